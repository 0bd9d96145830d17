//! The bundle file: the same from the same sources, whole or refused, and never trusted.

use crate::project::Files;
use callcell_runtime::{BUNDLE_FORMAT, BundleFile, CallOptions, CallbackKind, EngineConfig, ImagePolicy};
use callcell_tests::{assert_alive, config, engine, engine_with};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const TOOL: &str = "import { rate } from './rate.ts';
export const double = createTool({ description: 'Doubles.', inputSchema: { type: 'object' }, outputSchema: { type: 'object' },
  execute: ({ value }: any) => ({ value: value * rate }) });
";

fn project() -> Files {
    let files = Files::declaring(TOOL);
    files.write("rate.ts", "export const rate: number = 2;\n");
    files
}

fn bytes() -> Vec<u8> {
    project().compilation().bundle.to_bytes().expect("the bundle is written")
}

/// What is wrong with these bytes.
fn refused(bytes: &[u8]) -> String {
    match BundleFile::from_bytes(bytes) {
        Ok(_) => panic!("the bundle was accepted"),
        Err(error) => error.code().to_owned(),
    }
}

/// The same bundle with another JSON part or another image, and with the digest that belongs to it.
fn forged(change: impl FnOnce(&mut Value, &mut Vec<u8>)) -> Vec<u8> {
    let bytes = bytes();
    let length = u32::from_le_bytes(bytes[20..24].try_into().expect("four bytes")) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[24..24 + length]).expect("the JSON part");
    let mut image = bytes[24 + length..bytes.len() - 32].to_vec();
    change(&mut header, &mut image);
    let header = header.to_string().into_bytes();
    let mut forged = bytes[..20].to_vec();
    forged.extend_from_slice(&(header.len() as u32).to_le_bytes());
    forged.extend_from_slice(&header);
    forged.extend_from_slice(&image);
    signed(forged)
}

fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

fn double(file: BundleFile) -> Result<Value, String> {
    let bundle = engine().load(file).map_err(|error| error.code().to_owned())?;
    let outcome = bundle.call_blocking("double", &json!({ "value": 4 }), &CallOptions::default());
    outcome.map(|outcome| outcome.value).map_err(|error| error.code().to_owned())
}

// D-12
#[test]
fn the_same_sources_give_the_same_bytes_in_any_folder() {
    assert_eq!(bytes(), bytes());
    let old = project();
    let file = std::fs::File::options().write(true).open(old.path("rate.ts")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(old.compilation().bundle.to_bytes().unwrap(), bytes());
    let other = project();
    other.write("rate.ts", "export const rate: number = 3;\n");
    assert_ne!(other.compilation().bundle.to_bytes().unwrap(), bytes());
}

// CB-20, CB-71
#[test]
fn a_bundle_is_all_that_a_call_needs() {
    let bytes = bytes();
    let file = BundleFile::from_bytes(&bytes).unwrap();
    assert_eq!(file, project().compilation().bundle);
    assert_eq!(file.to_bytes().unwrap(), bytes);
    let sources: Vec<_> = file.manifest.sources.iter().map(|it| (it.path.as_str(), it.sha256.len())).collect();
    assert_eq!(sources, [("a.ts", 64), ("rate.ts", 64)]);
    assert!(file.modules.modules.iter().all(|module| module.source_map.is_some()));
    assert_eq!(double(file), Ok(json!({ "value": 8 })));
}

#[test]
fn a_cut_bundle_is_refused() {
    let bytes = bytes();
    let lengths = (0..200).chain(bytes.len() - 200..bytes.len()).chain((200..bytes.len()).step_by(997));
    for length in lengths {
        assert_eq!(refused(&bytes[..length]), "BUNDLE_DAMAGED", "{length} bytes");
    }
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(refused(&longer), "BUNDLE_DAMAGED");
}

#[test]
fn a_flipped_bit_is_noticed() {
    let bytes = bytes();
    for at in (0..300).chain((300..bytes.len()).step_by(2_003)) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let code = refused(&flipped);
        let expected = if (16..20).contains(&at) { "BUNDLE_FORMAT" } else { "BUNDLE_DAMAGED" };
        assert_eq!(code, expected, "byte {at}");
    }
}

#[test]
fn a_digest_is_no_reason_to_believe_lengths() {
    let whole = bytes();
    for length in [0, 1, u32::MAX, u32::MAX - 24, whole.len() as u32, i32::MAX as u32] {
        let mut forged = whole[..whole.len() - 32].to_vec();
        forged[20..24].copy_from_slice(&length.to_le_bytes());
        assert_eq!(refused(&signed(forged)), "BUNDLE_DAMAGED", "{length}");
    }
    assert_eq!(refused(&signed(whole[..20].to_vec())), "BUNDLE_DAMAGED");
    let mut format = whole[..whole.len() - 32].to_vec();
    format[16..20].copy_from_slice(&(BUNDLE_FORMAT + 1).to_le_bytes());
    assert_eq!(refused(&signed(format)), "BUNDLE_FORMAT");
}

#[test]
fn an_image_that_does_not_fit_its_memory_is_refused() {
    let word = |image: &mut Vec<u8>, at: usize, value: u32| image[at..at + 4].copy_from_slice(&value.to_le_bytes());
    // Pages of memory, count of runs, then offset and length of each run.
    for (at, value) in
        [(0, 0), (0, u32::MAX), (4, 0), (4, u32::MAX), (8, u32::MAX), (8, 4097), (12, u32::MAX), (12, 0), (16, 0)]
    {
        let forged = forged(|_, image| word(image, at, value));
        assert_eq!(refused(&forged), "BUNDLE_DAMAGED", "{value} at {at}");
    }
    assert_eq!(refused(&forged(|_, image| image.clear())), "BUNDLE_DAMAGED");
    assert_eq!(refused(&forged(|_, image| image.extend_from_slice(&[0; 4096]))), "BUNDLE_DAMAGED");
}

/// An image of so many pages of 64 KiB with these runs, all of zeros.
fn image(pages: u32, runs: &[(u32, u32)]) -> Vec<u8> {
    let head = [pages, runs.len() as u32];
    let words = head.into_iter().chain(runs.iter().flat_map(|&(offset, length)| [offset, length]));
    let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.resize(bytes.len() + runs.iter().map(|run| run.1 as usize).sum::<usize>(), 0);
    bytes
}

#[test]
fn runs_of_an_image_are_whole_pages_in_order() {
    const PAGE: u32 = 4096;
    let read = |pages, runs: &[(u32, u32)]| BundleFile::from_bytes(&forged(|_, it| *it = image(pages, runs)));
    for (what, pages, runs) in [
        ("out of order", 1, &[(PAGE, PAGE), (0, PAGE)][..]),
        ("twice the same", 1, &[(0, PAGE), (0, PAGE)]),
        ("overlapping", 1, &[(0, 2 * PAGE), (PAGE, PAGE)]),
        ("behind the memory", 1, &[(16 * PAGE, PAGE)]),
        ("across its end", 1, &[(15 * PAGE, 2 * PAGE)]),
        ("no whole page", 1, &[(0, PAGE - 1)]),
        ("without memory", 0, &[(0, PAGE)]),
        ("more memory than a cell has", 1537, &[(0, PAGE)]),
    ] {
        let error = read(pages, runs).expect_err(what);
        assert_eq!(error.code(), "BUNDLE_DAMAGED", "{what}");
    }
    let file = read(1536, &[(0, PAGE), (PAGE, PAGE), (1536 * 16 * PAGE - PAGE, PAGE)]).expect("it fits");
    assert_eq!((file.image.memory_bytes(), file.image.data_bytes()), (96 << 20, 3 * PAGE as usize));
}

// Nobody checks what an image means, only that it can do no harm: with either way of bringing it into a cell.
#[test]
fn a_manifest_that_lies_about_its_image_costs_nobody_but_its_caller() {
    type Lie = (&'static str, fn(&mut BundleFile), Result<Value, &'static str>);
    let lies: [Lie; 8] = [
        ("another kind", |file| file.manifest.callbacks[0].kind = CallbackKind::Evaluator, Err("E_SCORE_INVALID")),
        ("no modules", |file| file.modules = Default::default(), Ok(json!({ "value": 8 }))),
        ("no memory", |file| file.image = Default::default(), Err("R_WORKER_LOST")),
        ("all memory", |file| file.image = memory(1536), Err("R_WORKER_LOST")),
        ("less memory", |file| file.image = memory(1), Err("R_WORKER_LOST")),
        (
            "a callback too many",
            |file| {
                let mut first = file.manifest.callbacks[0].clone();
                first.name = "first".into();
                file.manifest.callbacks.insert(0, first);
            },
            Err("R_WORKER_LOST"),
        ),
        ("other modules", |file| file.modules.modules[0].source = "throw 1".into(), Ok(json!({ "value": 8 }))),
        ("other words", |file| file.manifest.callbacks[0].description = None, Ok(json!({ "value": 8 }))),
    ];
    for images in [ImagePolicy::Shared, ImagePolicy::Own] {
        let engine = engine_with(EngineConfig { images, cells: 4, warm_memories: 4, ..config() });
        let mut good = project().compilation().bundle;
        good.base_id = engine.bundle_file(engine.evaluate(&good.modules).unwrap(), good.modules.clone()).base_id;
        for (what, lie, expected) in &lies {
            let mut file = good.clone();
            lie(&mut file);
            let bundle = engine.load(file).expect("nothing in it can be checked");
            let outcome = bundle.call_blocking("double", &json!({ "value": 4 }), &CallOptions::default());
            let outcome = outcome.map(|it| it.value).map_err(|error| error.code());
            assert_eq!(&outcome, expected, "{what}, {images:?}");
        }
        assert_alive(&engine);
    }
}

/// The image of an empty memory of so many pages.
fn memory(pages: u32) -> callcell_runtime::Image {
    BundleFile::from_bytes(&forged(|_, it| *it = image(pages, &[]))).expect("it can be read").image
}

#[test]
fn two_callbacks_of_one_name_are_refused() {
    let forged = forged(|header, _| {
        let callbacks = header["manifest"]["callbacks"].as_array_mut().unwrap();
        callbacks.push(callbacks[0].clone());
    });
    assert_eq!(
        BundleFile::from_bytes(&forged).map_err(|error| error.code().to_owned()).and_then(double),
        Err("BUNDLE_DAMAGED".to_owned())
    );
}

#[test]
fn a_manifest_of_another_shape_is_refused() {
    for (path, value) in [
        ("/manifest", json!(null)),
        ("/manifest/callbacks", json!({})),
        ("/manifest/callbacks/0/kind", json!("macro")),
        ("/manifest/callbacks/0/name", json!(1)),
        ("/modules/modules/0/imports", json!([["a"]])),
        ("/base", json!("other")),
        ("/base_id", json!(7)),
    ] {
        let forged = forged(|header, _| *header.pointer_mut(path).unwrap() = value.clone());
        assert_eq!(refused(&forged), "BUNDLE_DAMAGED", "{path}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut nested = bytes()[..20].to_vec();
    nested.extend_from_slice(&(deep.len() as u32).to_le_bytes());
    nested.extend_from_slice(deep.as_bytes());
    assert_eq!(refused(&signed(nested)), "BUNDLE_DAMAGED");
}

// Whoever writes the file chooses the memory; it can hurt nobody but its own cells.
#[test]
fn memory_of_another_is_a_lost_worker_at_worst() {
    for fill in [0x00, 0x41, 0xFF] {
        let forged = forged(|_, image| {
            let runs = u32::from_le_bytes(image[4..8].try_into().unwrap()) as usize;
            image[8 + runs * 8..].fill(fill);
        });
        let outcome = double(BundleFile::from_bytes(&forged).unwrap());
        assert!(outcome.is_err(), "{fill:#x}: {outcome:?}");
    }
    assert_eq!(double(project().compilation().bundle), Ok(json!({ "value": 8 })), "the engine is unharmed");
}

#[test]
fn schemas_of_another_are_compiled_or_refused() {
    let load = |schema: Value| {
        let forged = forged(|header, _| header["manifest"]["callbacks"][0]["inputSchema"] = schema);
        double(BundleFile::from_bytes(&forged).unwrap())
    };
    let deep = (0..200).fold(json!({}), |inner, _| json!({ "allOf": [inner] }));
    let many = json!({ "enum": (0..100_001).collect::<Vec<_>>() });
    let counted = json!({ "type": "object", "properties": { "value": { "type": "string", "pattern": "((a{1,1000}){1,1000}){1,1000}" } } });
    let remote = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "http://example.com/x" });
    for schema in [deep, many, counted, remote, json!({ "$schema": "x" }), json!({ "magic": 1 }), json!(null)] {
        let schema = Some(schema);
        let mut file = project().compilation().bundle;
        file.manifest.callbacks[0].input_schema = schema.clone();
        assert_eq!(double(file), Err("BUNDLE_SCHEMA".to_owned()), "{schema:.100?}");
    }
    let tree = json!({ "$defs": { "s1": { "type": "object", "properties": { "value": {}, "s1": { "$ref": "#/$defs/s1" } }, "x-unknownKeys": "strip" } }, "$ref": "#/$defs/s1" });
    assert_eq!(load(tree), Ok(json!({ "value": 8 })), "recursion through a property is fine");
    let endless = json!({ "$defs": { "s1": { "$ref": "#/$defs/s1" } }, "$ref": "#/$defs/s1" });
    for schema in
        [json!({ "type": 5 }), json!({ "pattern": "(" }), endless, json!({ "$ref": "#/$defs/none" }), json!([])]
    {
        assert_eq!(load(schema.clone()), Err("BUNDLE_SCHEMA".to_owned()), "{schema}");
    }
    assert_eq!(load(json!({ "type": "object", "required": ["other"] })), Err("R_INPUT_SCHEMA".to_owned()));
    assert_eq!(load(json!({ "type": "object" })), Ok(json!({ "value": 8 })));
}

#[test]
fn a_bundle_of_another_guest_is_evaluated_again() {
    let mut file = project().compilation().bundle;
    file.base_id = "0".repeat(64);
    assert_eq!(double(file.clone()), Ok(json!({ "value": 8 })));
    // Its image is not used: only the modules are.
    file.image = Default::default();
    assert_eq!(double(file.clone()), Ok(json!({ "value": 8 })));
    file.manifest.callbacks[0].name = "triple".into();
    assert_eq!(double(file.clone()), Err("BUNDLE_DAMAGED".to_owned()));
    file.modules.modules[0].source = "throw new Error('changed')".into();
    assert_eq!(double(file), Err("C_TOP_LEVEL_THREW".to_owned()));
}
