use super::*;
use crate::dataset::folder::Folder;
use crate::model::{EvaluationUsage, Example, RunResult, Status};
use experiment::RunRow;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("callcell.db")
    }

    fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    fn code(&self) -> &'static str {
        Store::open(&self.path()).unwrap_err().code()
    }

    /// Does to the file what no store does.
    fn edit(&self, sql: &str) {
        let connection = Connection::open(self.path()).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.execute_batch(sql).unwrap();
    }
}

fn lines(store: &Store, mode: ImportMode, text: &str) -> Result<Dataset, StoreError> {
    store.import_lines("set", mode, text.as_bytes(), None, &mut |_| ())
}

fn names(store: &Store, dataset: &Dataset) -> Vec<String> {
    store.examples(dataset).map(|it| it.unwrap().example.name).collect()
}

fn experiment(store: &Store, dataset: &Dataset, selection: Option<&[u64]>) -> Experiment {
    let new = NewExperiment {
        dataset,
        selection,
        repeat: 2,
        concurrency: 4,
        source: &crate::experiment::Source::Actual,
        bundle: "none",
        agent: "default",
        definition: &json!({ "evaluators": [] }),
    };
    store.create(&new).unwrap()
}

fn result(example: &str, repetition: u32, output: Option<Value>) -> RunResult {
    RunResult {
        example: example.into(),
        repetition,
        passed: true,
        status: Status::Decided,
        value: Some(1.0),
        error: None,
        output,
        evaluators: Vec::new(),
        run_fuel: 1,
        evaluation: EvaluationUsage::default(),
        duration_millis: 1,
    }
}

fn all(store: &Store) -> Result<(), StoreError> {
    for dataset in store.datasets()? {
        for example in store.examples(&dataset) {
            store.documents(&dataset, example?.seq)?;
        }
    }
    for experiment in store.experiments(100)? {
        store.counts(&experiment)?;
        store.summary(&experiment)?;
        store.runs(&experiment).try_for_each(|run| run.map(drop))?;
    }
    Ok(())
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let place = Place::new();
    fs::write(place.path(), "a text").unwrap();
    assert_eq!(place.code(), "X_STORE_FOREIGN");
    assert_eq!(fs::read(place.path()).unwrap(), b"a text");
    assert!(!place.folder.path().join("callcell.db.files").exists());

    let other = Place::new();
    other.edit("CREATE TABLE theirs (x)");
    assert_eq!(other.code(), "X_STORE_FOREIGN");
    assert!(!other.folder.path().join("callcell.db.files").exists());

    let newer = Place::new();
    drop(newer.open());
    newer.edit("PRAGMA user_version = 3");
    let refused = Store::open(&newer.path()).unwrap_err();
    assert_eq!(refused.code(), "X_STORE_NEWER");
    assert!(refused.to_string().ends_with("has version 3, and this program knows up to 2; use a newer callcell"));

    let empty = Place::new();
    fs::write(empty.path(), "").unwrap();
    assert!(empty.open().datasets().unwrap().is_empty());
}

#[test]
fn an_older_file_is_brought_up_to_date() {
    let place = Place::new();
    schema::tests::version_1(&place.path());
    place.edit(
        "INSERT INTO datasets VALUES (1, 'set'); INSERT INTO versions VALUES (1, 1, 1, 1, 0);
         INSERT INTO examples VALUES (1, 1, 'a', '{}', NULL, NULL, NULL);",
    );
    let store = place.open();
    let dataset = store.dataset("set", None).unwrap();
    assert_eq!(names(&store, &dataset), ["a"]);
    assert!(store.experiments(10).unwrap().is_empty());
    store.keep_reply("k", "r").unwrap();
    drop(store);
    assert_eq!(place.open().reply("k").unwrap().as_deref(), Some("r"));
}

#[test]
fn tables_of_somebody_else_are_refused() {
    let place = Place::new();
    drop(place.open());
    place.edit("CREATE TRIGGER t AFTER INSERT ON replies BEGIN DELETE FROM replies; END");
    assert_eq!(place.code(), "X_STORE_DAMAGED");
}

#[test]
fn a_file_that_was_cut_is_refused() {
    let place = Place::new();
    let text: String =
        (0..500).map(|at| format!("{{\"input\":{{\"at\":{at},\"x\":\"{}\"}}}}\n", "y".repeat(99))).collect();
    lines(&place.open(), ImportMode::Replace, &text).unwrap();
    let whole = fs::read(place.path()).unwrap();
    for length in [1, 99, 100, 4_096, whole.len() / 2, whole.len() - 1] {
        fs::write(place.path(), &whole[..length]).unwrap();
        let code = place.code();
        let expected = if length < 100 { "X_STORE_FOREIGN" } else { "X_STORE_DAMAGED" };
        assert_eq!(code, expected, "{length} of {}", whole.len());
    }
}

#[test]
fn flipped_bits_are_errors_and_no_panics() {
    let place = Place::new();
    {
        let store = place.open();
        let text: String = (0..60).map(|at| format!("{{\"input\":{{\"at\":{at}}},\"expected\":{{}}}}\n")).collect();
        let dataset = lines(&store, ImportMode::Replace, &text).unwrap();
        let made = experiment(&store, &dataset, Some(&[1, 2]));
        let row = RunRow::new(1, &mut result("line-1", 0, Some(json!(null))));
        store.write_runs(&made, &[row]).unwrap();
        all(&store).unwrap();
    }
    let whole = fs::read(place.path()).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(499) {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        let there = Place::new();
        fs::write(there.path(), &changed).unwrap();
        // Whatever it is, it is a typed error or data that could have been imported.
        if Store::open(&there.path()).and_then(|store| all(&store)).is_err() {
            refused += 1;
        }
    }
    assert!(refused > 0);
}

#[test]
fn edited_rows_are_errors_with_their_place() {
    let damage = |sql: &str| {
        let place = Place::new();
        {
            let store = place.open();
            let dataset =
                lines(&store, ImportMode::Replace, "{\"input\":{}}\n{\"input\":{}}\n{\"input\":{}}\n").unwrap();
            let made = experiment(&store, &dataset, None);
            store.write_runs(&made, &[RunRow::new(2, &mut result("line-2", 1, None))]).unwrap();
        }
        place.edit(sql);
        match all(&place.open()) {
            Err(StoreError::Damaged { place, what }) => format!("{place}: {what}"),
            other => panic!("{sql}: {other:?}"),
        }
    };
    let deep = format!("UPDATE examples SET input = '{}' WHERE seq = 2", "[".repeat(200_000));
    assert!(damage(&deep).starts_with("the table `examples`, version 1, number 2: a text is not JSON"));
    for (sql, expected) in [
        ("DELETE FROM examples WHERE seq = 2", "the table `examples`, version 1, number 2: it is missing"),
        ("DELETE FROM examples WHERE seq = 3", "the table `examples`, version 1, number 3: it is missing"),
        (
            "UPDATE examples SET input = '[]' WHERE seq = 2",
            "the table `examples`, version 1, number 2: the input must be an object",
        ),
        (
            "UPDATE examples SET name = '../x' WHERE seq = 3",
            "the table `examples`, version 1, number 3: the name must have",
        ),
        ("UPDATE versions SET examples = -1", "a dataset: a count is negative"),
        ("UPDATE datasets SET name = 'A'", "a dataset: its name is no name"),
        (
            "INSERT INTO documents VALUES (1, 1, '../x', 'y', 1)",
            "the table `examples`, version 1, number 1: a document's name",
        ),
        ("UPDATE experiments SET name = '../x'", "the experiment `../x`: its id is no id"),
        ("UPDATE experiments SET examples = 9", "the experiment `"),
        ("UPDATE experiments SET source = '{\"type\":\"other\"}'", "the experiment `"),
        ("UPDATE experiments SET status = 'odd'", "the experiment `"),
        ("UPDATE experiments SET repeat = 0", "the experiment `"),
        ("UPDATE experiments SET repeat = -1", "a row: a value is of another type"),
        ("UPDATE runs SET passed = 0", "the table `runs`, example 2, repetition 1: it contradicts itself"),
        (
            "UPDATE runs SET result = json_set(result, '$.status', 'blocked')",
            "the table `runs`, example 2, repetition 1: it contradicts",
        ),
        ("UPDATE runs SET result = '{}'", "the table `runs`, example 2, repetition 1: it is no result"),
        ("UPDATE runs SET repetition = 7", "the table `runs`, example 2, repetition 7: it contradicts itself"),
        ("UPDATE runs SET output = '{'", "the table `runs`, example 2, repetition 1: a text is not JSON"),
    ] {
        let found = damage(sql);
        assert!(found.starts_with(expected), "{sql}: {found}");
    }
}

// 7.1
#[test]
fn what_is_imported_later_changes_no_version() {
    let place = Place::new();
    let store = place.open();
    let first =
        lines(&store, ImportMode::Append, "{\"name\":\"constructor\",\"input\":{}}\n{\"name\":\"b\",\"input\":{}}")
            .unwrap();
    let made = experiment(&store, &first, None);
    let more = lines(&store, ImportMode::Append, "{\"name\":\"a\",\"input\":{}}").unwrap();
    let replaced = lines(&store, ImportMode::Replace, "{\"name\":\"b\",\"input\":{\"new\":1}}").unwrap();
    assert_eq!((first.version, more.version, replaced.version), (1, 1, 2));
    assert_eq!(names(&store, &first), ["constructor", "b"]);
    assert_eq!(names(&store, &more), ["constructor", "b", "a"]);
    assert_eq!(names(&store, &store.dataset("set", None).unwrap()), ["b"]);
    assert_eq!(names(&store, &store.dataset("set", Some(1)).unwrap()), ["constructor", "b", "a"]);
    assert_eq!(store.dataset("set", Some(3)).unwrap_err().code(), "X_UNKNOWN_DATASET");
    let again = store.experiment(&made.id).unwrap();
    assert_eq!((again.dataset.examples, again.total()), (2, 4));
    assert_eq!(store.examples_of(&again).map(|it| it.unwrap().example.name).collect::<Vec<_>>(), ["constructor", "b"]);
    assert_eq!(store.example(&first, "a").unwrap_err().code(), "X_UNKNOWN_EXAMPLE");
    assert_eq!(store.example(&first, "constructor").unwrap().seq, 1);
}

// 7.1
#[test]
fn one_bad_example_keeps_all_out_and_each_is_reported() {
    let place = Place::new();
    let store = place.open();
    lines(&store, ImportMode::Replace, "{\"name\":\"taken\",\"input\":{}}").unwrap();
    let mut places = Vec::new();
    let mut import = |text: &str| {
        places.clear();
        let mut note = |event| match event {
            ImportEvent::Bad(bad) => places.push(format!("{} {:?}", bad.at, bad.name)),
            ImportEvent::UnsafeInteger { example, path } => places.push(format!("{example} {path}")),
            ImportEvent::Read { .. } => {}
        };
        let imported = store.import_lines("set", ImportMode::Append, text.as_bytes(), None, &mut note);
        (imported.map(|dataset| dataset.examples).map_err(|error| error.to_string()), places.clone())
    };
    let two = "{\"name\":\"x\",\"input\":{}}\nnonsense\n{\"name\":\"x\",\"input\":{}}";
    let refused = |count: u64| Err(format!("{count} of the examples cannot be used, so nothing was imported"));
    assert_eq!(import(two), (refused(2), vec!["line 2 None".into(), "line 3 Some(\"x\")".into()]));
    let taken = "{\"name\":\"y\",\"input\":{}}\n{\"name\":\"taken\",\"input\":{}}";
    assert_eq!(import(taken), (refused(1), vec!["line 2 Some(\"taken\")".into()]));
    // D-58
    let large = "{\"name\":\"z\",\"input\":{\"id\":9007199254740993}}";
    assert_eq!(import(large), (Ok(2), vec!["z input.id".into()]));
    assert_eq!(names(&store, &store.dataset("set", None).unwrap()), ["taken", "z"]);
    assert_eq!(lines_code(&store, "Not A Name"), "X_DATASET_INVALID");
}

fn lines_code(store: &Store, name: &str) -> &'static str {
    store.import_lines(name, ImportMode::Append, &b""[..], None, &mut |_| ()).unwrap_err().code()
}

#[test]
fn lines_come_back_as_they_were() {
    let place = Place::new();
    let store = place.open();
    let examples: Vec<Example> = (0..700)
        .map(|at| Example {
            name: format!("n-{at}"),
            input: json!({ "z": at, "a": [0.1 + f64::from(at), 1e300, -0.0, "\u{0}\u{1F600}"], "constructor": null }),
            actual: (at % 2 == 0).then(|| json!(null)),
            expected: (at % 3 == 0).then(|| json!({ "__proto__": at })),
            annotation: (at % 5 == 0).then(|| "torn".into()),
        })
        .collect();
    let text: String = examples.iter().map(|it| format!("{}\n", json!(it))).collect();
    let dataset = lines(&store, ImportMode::Replace, &text).unwrap();
    assert!(store.examples(&dataset).map(|it| it.unwrap().example).eq(examples));
    let mut exported = Vec::new();
    assert_eq!(store.export_lines(&dataset, &mut exported).unwrap(), 700);
    assert_eq!(String::from_utf8(exported).unwrap(), text);
    let to = place.folder.path().join("out");
    assert_eq!(store.export_folder(&dataset, &to).unwrap_err().code(), "X_NOT_EXPORTABLE");
}

#[test]
fn folders_come_back_as_they_were_with_their_documents() {
    let place = Place::new();
    let from = place.folder.path().join("from");
    for (name, text) in [
        ("b/input.json", r#"{"scan":{"$file":"input/scans/one.pdf"}}"#),
        ("b/input/scans/one.pdf", "%PDF one"),
        ("b/expected.json", r#"{"scan":{"$file":"expected/two.pdf"}}"#),
        ("b/expected/two.pdf", "%PDF one"),
        ("b/meta.json", r#"{"rowOrder":1,"annotation":"torn"}"#),
        ("a/input.json", r#"{"z":1,"a":0.1}"#),
    ] {
        let path = from.join("examples").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let store = place.open();
    let import = |path: &Path| {
        let folder = Folder::open(path).unwrap();
        store.import_folder("set", ImportMode::Replace, &folder, None, &mut |_| ()).unwrap()
    };
    let first = import(&from);
    let (one, two) = (place.folder.path().join("one"), place.folder.path().join("two"));
    assert_eq!(store.export_folder(&first, &one).unwrap(), 2);
    let second = import(&one);
    store.export_folder(&second, &two).unwrap();
    assert_eq!(names(&store, &first), ["b", "a"]);
    let content = |dataset: &Dataset| {
        let examples = store.examples(dataset).map(|it| it.unwrap());
        examples.map(|it| (it.example, store.documents(dataset, it.seq).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(content(&first), content(&second));
    for file in ["b/input.json", "b/meta.json", "b/input/scans/one.pdf", "b/expected/two.pdf", "a/meta.json"] {
        let read = |root: &Path| fs::read(root.join("examples").join(file)).unwrap();
        assert_eq!(read(&one), read(&two), "{file}");
    }
    assert_eq!(store.export_folder(&first, &one).unwrap_err().code(), "FILE_UNREADABLE");
    assert_eq!(store.export_lines(&first, &mut Vec::new()).unwrap_err().code(), "X_NOT_EXPORTABLE");

    // A document that somebody changed, or took away.
    let document = &store.documents(&first, 1).unwrap()[0];
    let kept = place.folder.path().join("callcell.db.files/objects").join(&document.sha256[..2]).join(&document.sha256);
    fs::write(&kept, "%PDF two").unwrap();
    assert_eq!(store.read_document(document, &mut Vec::new()).unwrap_err().code(), "X_STORE_DAMAGED");
    fs::remove_file(&kept).unwrap();
    assert!(store.read_document(document, &mut Vec::new()).unwrap_err().to_string().contains("it is missing"));
}

#[test]
fn outputs_that_are_null_are_outputs() {
    let place = Place::new();
    let store = place.open();
    let dataset = lines(&store, ImportMode::Replace, "{\"input\":{}}\n{\"input\":{}}").unwrap();
    let made = experiment(&store, &dataset, Some(&[2]));
    assert_eq!((made.total(), store.selection(&made).unwrap()), (2, Some(vec![2])));
    assert_eq!(store.examples_of(&made).map(|it| it.unwrap().seq).collect::<Vec<_>>(), [2]);
    let results = [result("line-2", 1, None), result("line-2", 0, Some(Value::Null))];
    let rows: Vec<_> = results.clone().iter_mut().map(|result| RunRow::new(2, result)).collect();
    store.write_runs(&made, &rows).unwrap();
    let found: Vec<_> = store.runs(&made).map(|run| run.unwrap().result).collect();
    assert_eq!(found, [results[1].clone(), results[0].clone()]);
    assert_eq!(store.counts(&made).unwrap(), Counts { total: 2, passed: 2, failed: 0, errors: 0 });
    assert_eq!(store.summary(&made).unwrap().total, 2);
    assert_eq!(store.finished(&made, 2).unwrap(), [(0, true), (1, true)].into());
}

#[test]
fn one_lease_at_a_time() {
    let place = Place::new();
    let store = place.open();
    let dataset = lines(&store, ImportMode::Replace, "{\"input\":{}}").unwrap();
    let made = experiment(&store, &dataset, None);
    let lease = store.lease(&made).unwrap();
    assert_eq!(place.open().lease(&made).unwrap_err().code(), "X_EXPERIMENT_RUNNING");
    drop(lease);
    place.open().lease(&made).unwrap();
    assert_eq!(store.experiment("nobody").unwrap_err().code(), "X_UNKNOWN_EXPERIMENT");
}

// EV-112: readers and other writers do not wait for an import
#[test]
fn an_import_holds_nobody_up() {
    let place = Place::new();
    let store = place.open();
    let text = "{\"input\":{}}\n".repeat(1_000);
    let mut wrote = 0;
    let mut during = |event| {
        if let ImportEvent::Read { .. } = event {
            let other = place.open();
            other.keep_reply("k", "r").unwrap();
            wrote += 1;
        }
    };
    store.import_lines("set", ImportMode::Replace, text.as_bytes(), None, &mut during).unwrap();
    assert_eq!(wrote, 2);
}

#[test]
fn replies_that_are_too_long_are_not_kept() {
    let store = Place::new().open();
    store.keep_reply("k", "one").unwrap();
    store.keep_reply("k", "two").unwrap();
    store.keep_reply("l", &"x".repeat(256 * 1024 + 1)).unwrap();
    assert_eq!((store.reply("k").unwrap().as_deref(), store.reply("l").unwrap()), (Some("two"), None));
}
