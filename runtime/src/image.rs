//! Images: what a guest's linear memory held at one moment, as the pages that differ from a base.

use crate::error::BundleError;

/// Granule of an image, in bytes. A page of the machine, because that is what copy-on-write works in.
pub const PAGE_BYTES: usize = 4096;
/// A page of WebAssembly, in bytes.
pub(crate) const WASM_PAGE_BYTES: usize = 64 * 1024;
/// The most memory an image may have: QuickJS's 64 MiB, and room for code data, stack and the allocator's waste.
pub const MAX_IMAGE_BYTES: usize = 96 * 1024 * 1024;

/// Pages of a linear memory. Either all that are not zero, or those that differ from a base image.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Image {
    /// Size of the memory, in bytes; a multiple of 64 KiB.
    memory_bytes: usize,
    /// Offset and length of each run of pages, in order, without overlap. Multiples of [`PAGE_BYTES`].
    runs: Vec<(u32, u32)>,
    /// The runs' contents, one behind the other.
    data: Vec<u8>,
}

impl Image {
    /// The pages in which `memory` differs from `base`, which may be shorter and is then continued with zeros.
    pub(crate) fn difference(memory: &[u8], base: &[u8]) -> Self {
        let mut image = Self { memory_bytes: memory.len(), ..Self::default() };
        for (index, page) in memory.chunks(PAGE_BYTES).enumerate() {
            let offset = index * PAGE_BYTES;
            let same = match base.get(offset..offset + page.len()) {
                Some(before) => before == page,
                None => page.iter().all(|byte| *byte == 0),
            };
            if !same {
                image.push(offset, page);
            }
        }
        image
    }

    /// Appends a run of whole pages, joined to the one before it where they touch.
    fn push(&mut self, offset: usize, bytes: &[u8]) {
        match self.runs.last_mut() {
            Some((start, length)) if (*start + *length) as usize == offset => *length += bytes.len() as u32,
            _ => self.runs.push((offset as u32, bytes.len() as u32)),
        }
        self.data.extend_from_slice(bytes);
    }

    /// An image from segments of any offset and length, in order.
    #[cfg(feature = "compiler")]
    pub(crate) fn from_segments(memory_bytes: usize, segments: &[(u32, Vec<u8>)]) -> Option<Self> {
        let mut memory = vec![0; memory_bytes];
        for (offset, bytes) in segments {
            memory.get_mut(*offset as usize..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        }
        Some(Self::difference(&memory, &[]))
    }

    /// Size of the whole memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Size of the pages held, in bytes.
    pub fn data_bytes(&self) -> usize {
        self.data.len()
    }

    /// Each run's offset and contents.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut rest = &self.data[..];
        self.runs.iter().map(move |&(offset, length)| {
            let (run, behind) = rest.split_at(length as usize);
            rest = behind;
            (offset as usize, run)
        })
    }

    /// This image laid over `base`: the whole memory's pages.
    #[cfg(feature = "compiler")]
    pub(crate) fn over(&self, base: &[u8]) -> Self {
        let mut memory = vec![0; self.memory_bytes];
        let shared = base.len().min(memory.len());
        memory[..shared].copy_from_slice(&base[..shared]);
        for (offset, run) in self.runs() {
            memory[offset..offset + run.len()].copy_from_slice(run);
        }
        Self::difference(&memory, &[])
    }

    /// `u32` memory pages, `u32` count of runs, the runs as two `u32`, the data.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.runs.len() * 8 + self.data.len());
        bytes.extend_from_slice(&((self.memory_bytes / WASM_PAGE_BYTES) as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.runs.len() as u32).to_le_bytes());
        for (offset, length) in &self.runs {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        bytes.extend_from_slice(&self.data);
        bytes
    }

    /// Reads what [`Image::to_bytes`] wrote, trusting nothing.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let damaged = |what| BundleError::Damaged { what };
        let word = |at: usize| -> Result<u32, BundleError> {
            let slice = bytes.get(at..at + 4).ok_or(damaged("the image is cut short"))?;
            Ok(u32::from_le_bytes([slice[0], slice[1], slice[2], slice[3]]))
        };
        let memory_bytes = word(0)? as usize * WASM_PAGE_BYTES;
        if memory_bytes > MAX_IMAGE_BYTES {
            return Err(damaged("the image's memory is larger than a cell's"));
        }
        let count = word(4)? as usize;
        if count > memory_bytes / PAGE_BYTES {
            return Err(damaged("the image has more runs than pages"));
        }
        let mut runs = Vec::with_capacity(count);
        let (mut end, mut total) = (0usize, 0usize);
        for index in 0..count {
            let (offset, length) = (word(8 + index * 8)? as usize, word(12 + index * 8)? as usize);
            let aligned = offset.is_multiple_of(PAGE_BYTES) && length.is_multiple_of(PAGE_BYTES) && length > 0;
            if !aligned || offset < end || offset + length > memory_bytes {
                return Err(damaged("a run of the image lies outside its memory"));
            }
            end = offset + length;
            total += length;
            runs.push((offset as u32, length as u32));
        }
        let data = bytes.get(8 + count * 8..).unwrap_or_default();
        if data.len() != total {
            return Err(damaged("the image's data does not match its runs"));
        }
        Ok(Self { memory_bytes, runs, data: data.to_vec() })
    }

    /// A module without code: one memory with this image in it, exported.
    #[cfg(feature = "compiler")]
    pub(crate) fn to_module(&self) -> Vec<u8> {
        use wasm_encoder::{ConstExpr, DataSection, ExportKind, ExportSection, MemorySection, MemoryType, Module};
        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: (self.memory_bytes / WASM_PAGE_BYTES) as u64,
            maximum: Some((MAX_IMAGE_BYTES / WASM_PAGE_BYTES) as u64),
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut exports = ExportSection::new();
        exports.export("memory", ExportKind::Memory, 0);
        let mut data = DataSection::new();
        for (offset, run) in self.runs() {
            data.active(0, &ConstExpr::i32_const(offset as i32), run.iter().copied());
        }
        let mut module = Module::new();
        module.section(&memories).section(&exports).section(&data);
        module.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(pages: &[(usize, u8)]) -> Vec<u8> {
        let mut memory = vec![0; 2 * WASM_PAGE_BYTES];
        for (page, byte) in pages {
            memory[page * PAGE_BYTES + 7] = *byte;
        }
        memory
    }

    #[test]
    fn a_difference_holds_only_the_pages_that_differ() {
        let image =
            Image::difference(&memory(&[(1, 5), (2, 6), (9, 7)]), &memory(&[(1, 5), (4, 8)])[..WASM_PAGE_BYTES]);
        let runs: Vec<_> = image.runs().map(|(offset, run)| (offset / PAGE_BYTES, run.len() / PAGE_BYTES)).collect();
        assert_eq!(runs, [(2, 1), (4, 1), (9, 1)]);
    }

    #[test]
    fn bytes_round_trip() {
        let image = Image::difference(&memory(&[(0, 1), (1, 2), (30, 3)]), &[]);
        assert_eq!(Image::from_bytes(&image.to_bytes()).ok(), Some(image));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let good = Image::difference(&memory(&[(3, 1)]), &[]).to_bytes();
        for (at, word) in [(0, 0xffff_ffff), (4, 0xffff_ffff), (8, 0xffff_f000), (12, 0), (12, 0xffff_f000), (8, 17)] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
            assert!(matches!(Image::from_bytes(&bytes), Err(BundleError::Damaged { .. })), "{at} {word:x}");
        }
        for length in 0..good.len() {
            assert!(Image::from_bytes(&good[..length]).is_err(), "{length}");
        }
    }
}
