//! Datasets on their way out, in the formats they came in: importing what was exported gives the same examples, and exporting that the same
//! bytes.

use super::{Dataset, Store, StoreError};
use crate::dataset::{MAX_JSON_BYTES, folder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

impl Store {
    /// Writes a dataset as lines of JSON.
    ///
    /// # Errors
    /// When an example has documents, which lines cannot hold; when the writer fails or the store cannot be read. The writer has then got a
    /// part.
    pub fn export_lines(&self, dataset: &Dataset, writer: &mut dyn Write) -> Result<u64, StoreError> {
        let failed = |source| StoreError::File { path: "the lines".into(), source };
        let mut writer = BufWriter::new(writer);
        let mut count = 0;
        for stored in self.examples(dataset) {
            let stored = stored?;
            if !self.documents(dataset, stored.seq)?.is_empty() {
                let what = "it has documents, which only a folder can hold";
                return Err(StoreError::NotExportable { example: stored.example.name, what });
            }
            serde_json::to_writer(&mut writer, &stored.example).map_err(|error| failed(error.into()))?;
            writer.write_all(b"\n").map_err(failed)?;
            count += 1;
        }
        writer.flush().map_err(failed)?;
        Ok(count)
    }

    /// Writes a dataset as a folder, which must not be there yet.
    ///
    /// # Errors
    /// When the folder is there; when an example has an output, which a folder cannot hold, or names documents that it does not have; when a
    /// document has changed; when the folder cannot be written or the store cannot be read. A part is then written.
    pub fn export_folder(&self, dataset: &Dataset, path: &Path) -> Result<u64, StoreError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| StoreError::File { path, source }
        };
        fs::create_dir(path).map_err(failed(path))?;
        fs::create_dir(path.join("examples")).map_err(failed(path))?;
        let mut count = 0;
        for stored in self.examples(dataset) {
            let (seq, example) = stored.map(|stored| (stored.seq, stored.example))?;
            let refuse = |what| Err(StoreError::NotExportable { example: example.name.clone(), what });
            if example.actual.is_some() {
                return refuse("it has an output, which only lines of JSON can hold");
            }
            let documents = self.documents(dataset, seq)?;
            let has: BTreeSet<_> = documents.iter().map(|document| document.path.clone()).collect();
            if folder::named(&example) != Ok(has) {
                return refuse("it names documents that it does not have");
            }
            // A name is lower-case letters, digits, `-` and `_`, and the paths of documents were checked when they were read.
            let home = path.join("examples").join(&example.name);
            let write = |name: &str, value: &Value| {
                let mut text = format!("{value:#}\n");
                // Indentation must not make a large example too large to come back.
                if text.len() > MAX_JSON_BYTES {
                    text = value.to_string();
                }
                fs::write(home.join(name), text).map_err(failed(&home.join(name)))
            };
            fs::create_dir(&home).map_err(failed(&home))?;
            write("input.json", &example.input)?;
            if let Some(expected) = &example.expected {
                write("expected.json", expected)?;
            }
            let mut meta = json!({ "rowOrder": seq });
            if let Some(annotation) = &example.annotation {
                meta["annotation"] = json!(annotation);
            }
            write("meta.json", &meta)?;
            for document in &documents {
                let to = home.join(&document.path);
                fs::create_dir_all(to.parent().unwrap_or(&home)).map_err(failed(&to))?;
                let mut file = File::create_new(&to).map_err(failed(&to))?;
                self.read_document(document, &mut file)?;
            }
            count += 1;
        }
        Ok(count)
    }
}
