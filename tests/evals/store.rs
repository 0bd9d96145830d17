//! The store: imports that are whole or nothing, exports that come back, and files that are not what was written (7.1).

use crate::agents::{Home, bundle, home, import, numbers};
use callcell_evals::dataset::folder::Folder;
use callcell_evals::definition::Definition;
use callcell_evals::experiment::{Plan, Source, create};
use callcell_evals::model::Example;
use callcell_evals::store::{Dataset, ImportEvent, ImportMode, Store, StoreError};
use std::fs;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn examples(store: &Store, dataset: &Dataset) -> Vec<Example> {
    store.examples(dataset).map(|stored| stored.expect("it is good").example).collect()
}

fn names(store: &Store, dataset: &Dataset) -> Vec<String> {
    examples(store, dataset).into_iter().map(|example| example.name).collect()
}

fn exported(store: &Store, dataset: &Dataset) -> String {
    let mut text = Vec::new();
    store.export_lines(dataset, &mut text).expect("it is exported");
    String::from_utf8(text).expect("it is text")
}

fn database(home: &Home) -> PathBuf {
    home.folder.path().join("callcell.db")
}

/// Lets go of the store, so that its log is in the file.
fn closed(home: Home) -> (tempfile::TempDir, PathBuf) {
    let path = database(&home);
    drop(home.store);
    (home.folder, path)
}

fn code(path: &Path) -> &'static str {
    Store::open(path).expect_err("it is refused").code()
}

// 7.1: the same lines come out that went in
#[test]
fn lines_come_back_as_they_were() {
    let home = home();
    let lines = concat!(
        "{\"name\":\"constructor\",\"input\":{\"b\":1,\"a\":[1.5,\"\\u0000ä\",null,{}]},\"actual\":null,\"expected\":{\"total\":1e300}}\n",
        "{\"name\":\"b\",\"input\":{},\"actual\":{\"__proto__\":1}}\n",
        "{\"name\":\"a\",\"input\":{\"z\":9007199254740993},\"annotation\":\"torn\"}\n",
    );
    let dataset = import(&home.store, "invoices", ImportMode::Replace, lines).expect("it is imported");
    assert_eq!((dataset.name.as_str(), dataset.version, dataset.examples), ("invoices", 1, 3));
    assert_eq!(names(&home.store, &dataset), ["constructor", "b", "a"]);
    let first = exported(&home.store, &dataset);
    let again = import(&home.store, "copy", ImportMode::Replace, &first).expect("it is imported");
    assert_eq!(examples(&home.store, &again), examples(&home.store, &dataset));
    assert_eq!(exported(&home.store, &again), first);
    assert_eq!(examples(&home.store, &dataset)[0].actual, Some(serde_json::Value::Null), "null is an output");
    assert_eq!(examples(&home.store, &dataset)[2].actual, None);
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        fs::write(path, text).expect("it is written");
    }
}

/// Every file below a folder with its bytes.
fn tree(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is read") {
            let path = entry.expect("it is read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).expect("it is read");
                found.push((path.strip_prefix(root).expect("it is below").to_owned(), bytes));
            }
        }
    }
    found.sort();
    found
}

// 7.1, EV-07, EV-113: documents lie beside the database and come back with the examples
#[test]
fn folders_come_back_with_their_documents() {
    let home = home();
    let root = home.folder.path().join("in");
    write(
        &root,
        &[
            ("examples/b/input.json", r#"{"scan":{"$file":"input/scans/one.pdf"},"n":1}"#),
            ("examples/b/input/scans/one.pdf", "%PDF\0\u{1}"),
            ("examples/b/expected.json", r#"{"total":2}"#),
            ("examples/b/meta.json", r#"{"rowOrder":1,"annotation":"torn"}"#),
            ("examples/a/input.json", r#"{"n":2}"#),
        ],
    );
    let folder = Folder::open(&root).expect("it opens");
    let store = &home.store;
    let dataset =
        store.import_folder("scans", ImportMode::Replace, &folder, None, &mut |_| {}).expect("it is imported");
    assert_eq!(names(store, &dataset), ["b", "a"]);
    let documents = store.documents(&dataset, 1).expect("they are read");
    assert_eq!((documents.len(), documents[0].path.as_str(), documents[0].bytes), (1, "input/scans/one.pdf", 6));
    let (first, second) = (home.folder.path().join("first"), home.folder.path().join("second"));
    assert_eq!(store.export_folder(&dataset, &first).expect("it is exported"), 2);
    let opened = Folder::open(&first).expect("it opens");
    let again = store.import_folder("copy", ImportMode::Replace, &opened, None, &mut |_| {}).expect("it is imported");
    assert_eq!(examples(store, &again), examples(store, &dataset));
    assert_eq!(store.documents(&again, 1).expect("they are read"), documents);
    store.export_folder(&again, &second).expect("it is exported");
    assert_eq!(tree(&first), tree(&second));
    assert_eq!(fs::read(first.join("examples/b/input/scans/one.pdf")).expect("it is there"), b"%PDF\0\x01");
    // Nothing is lost without a word.
    let refused = store.export_lines(&dataset, &mut Vec::new()).expect_err("lines hold no documents");
    assert_eq!(refused.code(), "X_NOT_EXPORTABLE");
    let with_output =
        import(store, "out", ImportMode::Replace, "{\"input\":{},\"actual\":{}}").expect("it is imported");
    let refused = store.export_folder(&with_output, &home.folder.path().join("third")).expect_err("no place for it");
    assert_eq!(refused.code(), "X_NOT_EXPORTABLE");
    // A document that was changed behind the store's back is found out.
    let object = tree(&home.folder.path().join("callcell.db.files"))
        .into_iter()
        .find(|(_, bytes)| bytes.starts_with(b"%PDF"))
        .expect("the document lies there");
    fs::write(home.folder.path().join("callcell.db.files").join(object.0), "%PDF\0\u{2}").expect("it is written");
    let damaged = store.read_document(&documents[0], &mut Vec::new()).expect_err("it has changed");
    assert_eq!(damaged.code(), "X_STORE_DAMAGED");
}

// 7.1, D-76, D-58: everything that is wrong is told, and nothing is imported
#[test]
fn an_import_is_whole_or_nothing() {
    let home = home();
    let definition = Definition::of(&bundle().manifest, None).expect("it has evaluations");
    let lines = concat!(
        "{\"name\":\"a\",\"input\":{\"n\":1}}\n",
        "nonsense\n",
        "{\"name\":\"a\",\"input\":{\"n\":2}}\n",
        "{\"name\":\"b\",\"input\":{\"n\":\"x\"},\"expected\":{\"total\":\"y\"}}\n",
        "{\"name\":\"c\",\"input\":{\"n\":9007199254740993}}\n",
    );
    let mut bad = Vec::new();
    let mut warned = Vec::new();
    let refused = home.store.import_lines(
        "d",
        ImportMode::Replace,
        lines.as_bytes(),
        Some(&definition),
        &mut |event| match event {
            ImportEvent::Bad(example) => bad.push(example),
            ImportEvent::UnsafeInteger { example, path } => warned.push((example, path)),
            _ => {}
        },
    );
    let refused = refused.expect_err("three are bad");
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        ("X_EXAMPLE_INVALID", "3 of the examples cannot be used, so nothing was imported")
    );
    let places: Vec<_> = bad.iter().map(|it| it.at.as_str()).collect();
    assert_eq!(places, ["line 2", "line 3", "line 4"]);
    let paths: Vec<_> = bad[2].problems.iter().map(|it| (it.code.as_str(), it.path.as_deref())).collect();
    assert_eq!(paths, [("X_EXAMPLE_INVALID", Some("input.n")), ("E_EXPECTED_SCHEMA", Some("expected.total"))]);
    assert_eq!(warned, [("c".to_owned(), "input.n".to_owned())]);
    assert_eq!(home.store.dataset("d", None).expect_err("nothing is there").code(), "X_UNKNOWN_DATASET");
    assert_eq!(home.store.datasets().expect("they are read"), []);
    for name in ["", "A", "../a", "a b"] {
        let refused = import(&home.store, name, ImportMode::Replace, "{\"input\":{}}").expect_err("it is no name");
        assert_eq!(refused.code(), "X_DATASET_INVALID");
    }
}

// 7.1: append and replace; what was looked up before stays what it was
#[test]
fn versions_do_not_change_under_anybody() {
    let home = home();
    let store = &home.store;
    let first = import(store, "d", ImportMode::Append, &numbers(2)).expect("it is imported");
    let more = "{\"name\":\"x\",\"input\":{\"n\":9}}\n";
    let second = import(store, "d", ImportMode::Append, more).expect("it is imported");
    assert_eq!((second.version, second.examples), (1, 3));
    assert_eq!(names(store, &first), ["e-1", "e-2"]);
    assert_eq!(names(store, &second), ["e-1", "e-2", "x"]);
    // A name that is there already is a bad example, and the good ones beside it are not imported either.
    let mut bad = Vec::new();
    let lines = "{\"name\":\"new\",\"input\":{}}\n{\"name\":\"x\",\"input\":{}}\n";
    let refused = store.import_lines("d", ImportMode::Append, lines.as_bytes(), None, &mut |event| {
        if let ImportEvent::Bad(example) = event {
            bad.push((example.at, example.name));
        }
    });
    assert_eq!(refused.expect_err("`x` is there").code(), "X_EXAMPLE_INVALID");
    assert_eq!(bad, [("line 2".to_owned(), Some("x".to_owned()))]);
    let third = import(store, "d", ImportMode::Replace, more).expect("it is imported");
    assert_eq!((third.version, third.examples), (2, 1));
    assert_eq!(names(store, &third), ["x"]);
    assert_eq!(names(store, &store.dataset("d", Some(1)).expect("it is there")), ["e-1", "e-2", "x"]);
    assert_eq!(store.dataset("d", None).expect("it is there").version, 2);
    assert_eq!(store.dataset("d", Some(3)).expect_err("there is none").code(), "X_UNKNOWN_DATASET");
    assert_eq!(store.dataset("constructor", None).expect_err("there is none").code(), "X_UNKNOWN_DATASET");
    assert_eq!(store.example(&first, "x").expect_err("it came later").code(), "X_UNKNOWN_EXAMPLE");
}

#[test]
fn nothing_and_much_are_datasets() {
    let home = home();
    let empty = import(&home.store, "empty", ImportMode::Replace, "\n").expect("it is imported");
    assert_eq!(
        (empty.examples, names(&home.store, &empty).len(), exported(&home.store, &empty)),
        (0, 0, String::new())
    );
    let huge = format!("{{\"name\":\"huge\",\"input\":{{\"x\":\"{}\"}}}}\n", "y".repeat(4 * 1024 * 1024 - 64));
    let dataset = import(&home.store, "huge", ImportMode::Replace, &huge).expect("it is imported");
    assert_eq!(exported(&home.store, &dataset), huge);
    // More than a page, so that reading goes on behind one.
    let many = import(&home.store, "many", ImportMode::Replace, &numbers(1_000)).expect("it is imported");
    assert_eq!(exported(&home.store, &many), numbers(1_000));
}

// Issue 4: a second process on the same file
#[test]
fn two_stores_on_one_file_take_turns() {
    let home = home();
    let path = database(&home);
    let other = Store::open(&path).expect("it opens twice");
    std::thread::scope(|scope| {
        for (store, name) in [(&*home.store, "left"), (&other, "right")] {
            scope.spawn(move || {
                for _ in 0..10 {
                    import(store, name, ImportMode::Replace, &numbers(50)).expect("it is imported");
                    import(store, "both", ImportMode::Replace, &numbers(3)).expect("it is imported");
                }
            });
        }
    });
    for store in [&*home.store, &other] {
        store.check().expect("it is in order");
        let versions: Vec<_> =
            store.datasets().expect("they are read").into_iter().map(|it| (it.name, it.version)).collect();
        assert_eq!(versions, [("both".to_owned(), 20), ("left".to_owned(), 10), ("right".to_owned(), 10)]);
    }
}

#[test]
fn replies_are_kept() {
    let home = home();
    assert_eq!(home.store.reply("key").expect("it is read"), None);
    home.store.keep_reply("key", "first").expect("it is kept");
    home.store.keep_reply("key", "second").expect("it is kept");
    assert_eq!(home.store.reply("key").expect("it is read").as_deref(), Some("second"));
}

// Files that are no stores stay as they are
#[test]
fn foreign_files_are_refused_and_untouched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.db");
    for bytes in [&b"a text that somebody wrote"[..], &[0; 4096], b"SQLite format 3\0 and then nonsense"] {
        fs::write(&path, bytes).expect("it is written");
        assert_eq!(code(&path), "X_STORE_FOREIGN");
        assert_eq!(fs::read(&path).expect("it is there"), bytes);
    }
    fs::remove_file(&path).expect("it goes");
    let other = rusqlite::Connection::open(&path).expect("it opens");
    other.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);").expect("it is made");
    drop(other);
    let before = fs::read(&path).expect("it is there");
    assert_eq!(code(&path), "X_STORE_FOREIGN");
    assert_eq!(fs::read(&path).expect("it is there"), before);
    assert!(!folder.path().join("other.db.files").exists(), "nothing is made beside it");
    let refused = Store::open(folder.path()).expect_err("a folder is no store");
    assert!(["FILE_UNREADABLE", "X_STORE_FOREIGN"].contains(&refused.code()), "{refused}");
    let missing = folder.path().join("no/where.db");
    assert!(Store::open(&missing).is_err());
}

#[test]
fn a_newer_store_is_refused_with_what_to_do() {
    let (_folder, path) = closed(home());
    let connection = rusqlite::Connection::open(&path).expect("it opens");
    connection.pragma_update(None, "user_version", 1_000).expect("it is written");
    drop(connection);
    let refused = Store::open(&path).expect_err("it is newer");
    assert_eq!(refused.code(), "X_STORE_NEWER");
    assert!(refused.to_string().ends_with("use a newer callcell"), "{refused}");
}

/// Reads all there is. The first error, if there is one.
fn read_all(path: &Path) -> Result<(), StoreError> {
    let store = Store::open(path)?;
    store.check()?;
    for dataset in store.datasets()? {
        for example in store.examples(&dataset) {
            store.documents(&dataset, example?.seq)?;
        }
    }
    for experiment in store.experiments(100)? {
        for run in store.runs(&experiment) {
            run?;
        }
        store.summary(&experiment)?;
        store.counts(&experiment)?;
        store.bundle(&experiment)?;
    }
    Ok(())
}

// Truncated and bit-flipped files: an error or a good answer, never a panic
#[test]
fn damaged_files_are_refused() {
    let home = home();
    import(&home.store, "d", ImportMode::Replace, &numbers(300)).expect("it is imported");
    let (folder, path) = closed(home);
    let good = fs::read(&path).expect("it is there");
    read_all(&path).expect("it is good");
    for length in [good.len() - 1, good.len() - 4096, good.len() / 2, 4096] {
        fs::write(&path, &good[..length]).expect("it is written");
        assert_eq!(code(&path), "X_STORE_DAMAGED", "cut to {length}");
    }
    let mut refused = 0;
    let copy = folder.path().join("flipped.db");
    for at in (0..good.len()).step_by(good.len() / 150) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        let _ = fs::remove_file(folder.path().join("flipped.db-wal"));
        fs::write(&copy, &bytes).expect("it is written");
        if let Err(error) = read_all(&copy) {
            refused += 1;
            assert!(
                ["X_STORE_DAMAGED", "X_STORE_FOREIGN", "X_STORE_NEWER", "X_STORE_FAILED", "FILE_UNREADABLE"]
                    .contains(&error.code()),
                "byte {at}: {error}"
            );
        }
    }
    // A flipped letter in a text is still a text; most other bytes carry structure.
    assert!(refused > 10, "{refused}");
}

// A row that somebody edited is an error with its place
#[test]
fn edited_rows_are_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let template = folder.path().join("template.db");
    {
        let store = Store::open(&template).expect("it opens");
        let dataset = import(&store, "d", ImportMode::Replace, &numbers(3)).expect("it is imported");
        create(&store, bundle(), &Plan::new(dataset, Source::Actual)).expect("it is planned");
    }
    let good = fs::read(&template).expect("it is there");
    for (number, (change, place)) in [
        ("UPDATE examples SET input = 'nonsense' WHERE seq = 2", "number 2"),
        ("UPDATE examples SET input = '[1]' WHERE seq = 2", "number 2"),
        ("UPDATE examples SET name = '../up' WHERE seq = 2", "number 2"),
        ("UPDATE examples SET expected = '{\"$error\":1}' WHERE seq = 3", "number 3"),
        ("UPDATE examples SET seq = 7 WHERE seq = 2", "number 2"),
        ("DELETE FROM examples WHERE seq = 2", "number 2"),
        ("UPDATE examples SET input = CAST(x'ff' AS TEXT) WHERE seq = 1", ""),
        ("UPDATE versions SET examples = 4", "number 4"),
        ("UPDATE versions SET examples = -1", "dataset"),
        ("UPDATE datasets SET name = 'A B'", "dataset"),
        ("UPDATE experiments SET status = 'odd'", "experiment"),
        ("UPDATE experiments SET source = '{\"type\":\"odd\"}'", "experiment"),
        ("UPDATE experiments SET repeat = 0", "experiment"),
        ("UPDATE experiments SET examples = 99", "experiment"),
        ("UPDATE experiments SET definition = '['", "experiment"),
        ("UPDATE experiments SET name = '../../x'", "experiment"),
        ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", "database file"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(format!("edited-{number}.db"));
        fs::write(&path, &good).expect("it is written");
        let connection = rusqlite::Connection::open(&path).expect("it opens");
        connection.pragma_update(None, "foreign_keys", false).expect("it is off");
        connection.execute_batch(change).unwrap_or_else(|error| panic!("{change}: {error}"));
        drop(connection);
        let found = read_all(&path).err().unwrap_or_else(|| panic!("not found out: {change}"));
        assert_eq!(found.code(), "X_STORE_DAMAGED", "{change}: {found}");
        assert!(found.to_string().contains(place), "{change}: {found}");
    }
}

const CHILD: &str = "CALLCELL_TEST_IMPORT";

/// The other process of the next test: imports what it is given until it is killed.
#[test]
fn importing_child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path)).expect("it opens");
    let reader = BufReader::new(std::io::stdin());
    let _ = store.import_lines("d", ImportMode::Append, reader, None, &mut |event| {
        if let ImportEvent::Read { examples } = event {
            eprintln!("read {examples}");
        }
    });
}

// 7.1: nothing half-imported after a kill
#[test]
fn a_killed_import_leaves_nothing() {
    let home = home();
    import(&home.store, "d", ImportMode::Replace, "{\"name\":\"old\",\"input\":{}}").expect("it is imported");
    let mut child = Command::new(std::env::current_exe().expect("a test knows its binary"))
        .args(["store::importing_child", "--exact", "--nocapture"])
        .env(CHILD, database(&home))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = std::io::BufRead::lines(BufReader::new(child.stderr.take().expect("it is piped")));
    // More than the child's buffer, so that it has come to the 2,000th when it says so.
    input.write_all(numbers(3_000).as_bytes()).expect("it reads");
    assert!(output.any(|line| line.expect("it is text") == "read 2000"));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let dataset = home.store.dataset("d", None).expect("it is there");
    assert_eq!((dataset.version, names(&home.store, &dataset)), (1, vec!["old".to_owned()]));
    home.store.check().expect("it is in order");
    // And the next one finds no trace of it.
    let dataset = import(&home.store, "d", ImportMode::Append, &numbers(2)).expect("it is imported");
    assert_eq!(dataset.examples, 3);
}
