//! Datasets in a store: versions, imports, and reading them by pages.
//!
//! Examples of a version are numbered from 1 on without gaps, and none is ever changed or taken away: an import makes a new version or adds
//! behind the last number. So a version and a number say exactly what an experiment is about, whatever is imported later.

use super::{Store, StoreError, json, now, schema, signed, unsigned};
use crate::dataset::folder::{Folder, FolderExample};
use crate::dataset::{self, BadExample, MAX_JSON_BYTES, lines};
use crate::definition::Definition;
use crate::model::{Example, Failure};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::path::PathBuf;

/// Bytes of all documents of one import (7.1).
pub const MAX_DOCUMENT_BYTES: u64 = 500_000_000;
/// Examples read at a time, and their bytes beyond which a page ends early.
const PAGE: usize = 256;
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Examples between two reports of progress.
const PROGRESS: u64 = 1_000;

/// A version of a dataset, as far as it went when it was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Its name.
    pub name: String,
    /// Which version, from 1.
    pub version: u64,
    /// How many examples it has.
    pub examples: u64,
    /// When the version was made, in milliseconds since 1970.
    pub created_millis: i64,
    pub(super) id: i64,
}

/// What happens to the examples that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// They stay in their version; the imported ones make a new one.
    Replace,
    /// The imported ones come behind them, in the same version. A dataset that does not exist yet is made.
    Append,
}

/// What an import has to tell on its way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImportEvent {
    /// An example is wrong. The import goes on to find all of them, and then ends with [`StoreError::BadExamples`].
    Bad(BadExample),
    /// An example has a whole number that JavaScript cannot tell from its neighbours (D-58). It is imported all the same.
    UnsafeInteger {
        /// The example's name.
        example: String,
        /// Where in it.
        path: String,
    },
    /// So many examples were read so far.
    Read {
        /// How many.
        examples: u64,
    },
}

/// A document of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Relative to the example's folder: `input/scan.pdf`.
    pub path: String,
    /// Of its contents, in hexadecimal.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// An example in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExample {
    /// Its number in the version, from 1.
    pub seq: u64,
    /// The example.
    pub example: Example,
}

impl Store {
    /// The newest version of each dataset, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn datasets(&self) -> Result<Vec<Dataset>, StoreError> {
        let connection = self.connection();
        let sql = "SELECT d.name, v.number, v.examples, v.created_millis, v.id FROM datasets d JOIN versions v ON v.dataset = d.id
                   WHERE v.number = (SELECT max(number) FROM versions WHERE dataset = d.id) ORDER BY d.name";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut datasets = Vec::new();
        while let Some(row) = rows.next()? {
            datasets.push(Dataset::read(row)?);
        }
        Ok(datasets)
    }

    /// A dataset, in a version or in its newest one.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub fn dataset(&self, name: &str, version: Option<u64>) -> Result<Dataset, StoreError> {
        find(&self.connection(), name, version)?.ok_or_else(|| StoreError::UnknownDataset {
            name: name.chars().take(dataset::MAX_NAME_BYTES).collect(),
            version,
        })
    }

    /// The examples of a dataset in their order, a page at a time. What is imported meanwhile is not among them.
    pub fn examples<'s>(&'s self, dataset: &Dataset) -> Examples<'s> {
        let scope = Scope { version: dataset.id, last: dataset.examples, selection: None };
        Examples { store: self, scope, after: 0, page: VecDeque::new() }
    }

    /// One example by its name.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub fn example(&self, dataset: &Dataset, name: &str) -> Result<StoredExample, StoreError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM examples e WHERE e.version = ?1 AND e.name = ?2 AND e.seq <= ?3"
        ))?;
        let mut rows = statement.query(params![dataset.id, name, signed(dataset.examples)])?;
        match rows.next()? {
            Some(row) => Ok(read_example(row, dataset.id)?.0),
            None => Err(StoreError::UnknownExample { name: name.chars().take(dataset::MAX_NAME_BYTES).collect() }),
        }
    }

    /// The documents of an example, by path.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn documents(&self, dataset: &Dataset, seq: u64) -> Result<Vec<Document>, StoreError> {
        let connection = self.connection();
        let sql = "SELECT path, sha256, bytes FROM documents WHERE version = ?1 AND seq = ?2 ORDER BY path";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![dataset.id, signed(seq)])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            let place = || place(dataset.id, seq);
            let (path, bytes): (String, i64) = (row.get(0)?, row.get(2)?);
            if !["input/", "expected/"].iter().any(|folder| dataset::folder::is_document(&path, folder)) {
                return Err(StoreError::damaged(place(), "a document's name leads elsewhere"));
            }
            documents.push(Document { path, sha256: row.get(1)?, bytes: unsigned(bytes, place)? });
        }
        Ok(documents)
    }

    /// Copies a document's contents to a writer.
    ///
    /// # Errors
    /// When it is missing or has changed, or the writer fails.
    pub fn read_document(&self, document: &Document, writer: &mut dyn io::Write) -> Result<(), StoreError> {
        self.files.copy_out(&document.sha256, document.bytes, writer)
    }

    /// Imports lines of JSON (7.1): all of them, or nothing. With a definition, examples must also fit the agent's schemas (D-76).
    ///
    /// # Errors
    /// When examples are wrong, each of which `on_event` gets; when the reader fails or the store cannot be written.
    pub fn import_lines(
        &self,
        name: &str,
        mode: ImportMode,
        reader: impl BufRead,
        definition: Option<&Definition>,
        on_event: &mut dyn FnMut(ImportEvent),
    ) -> Result<Dataset, StoreError> {
        let mut import = Import::begin(self, name, definition, on_event)?;
        for line in lines::read(reader) {
            let line = line.map_err(|source| StoreError::File { path: PathBuf::from("the lines"), source })?;
            match line {
                Ok((number, example)) => import.stage(&format!("line {number}"), &example, &[])?,
                Err(bad) => import.bad(bad),
            }
        }
        import.commit(mode, None)
    }

    /// Imports a folder of examples and their documents (7.1), as [`Store::import_lines`] does lines.
    ///
    /// # Errors
    /// As there; and when the documents have more than [`MAX_DOCUMENT_BYTES`] together.
    pub fn import_folder(
        &self,
        name: &str,
        mode: ImportMode,
        folder: &Folder,
        definition: Option<&Definition>,
        on_event: &mut dyn FnMut(ImportEvent),
    ) -> Result<Dataset, StoreError> {
        let mut import = Import::begin(self, name, definition, on_event)?;
        for example in folder.examples() {
            match example {
                Ok(FolderExample { example, documents }) => {
                    import.stage(&format!("examples/{}", example.name), &example, &documents)?;
                }
                Err(bad) => import.bad(bad),
            }
        }
        import.commit(mode, Some(folder))
    }
}

impl Dataset {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let name: String = row.get(0)?;
        let place = || "a dataset".to_owned();
        if !dataset::is_name(&name) {
            return Err(StoreError::damaged(place(), "its name is no name"));
        }
        Ok(Self {
            name,
            version: unsigned(row.get(1)?, place)?,
            examples: unsigned(row.get(2)?, place)?,
            created_millis: row.get(3)?,
            id: row.get(4)?,
        })
    }
}

/// The version with this row.
pub(super) fn by_id(connection: &Connection, id: i64) -> Result<Dataset, StoreError> {
    let sql = "SELECT d.name, v.number, v.examples, v.created_millis, v.id FROM versions v JOIN datasets d ON d.id = v.dataset
               WHERE v.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let row = rows.next()?.ok_or_else(|| StoreError::damaged("a dataset", "its version is missing"))?;
    Dataset::read(row)
}

fn find(connection: &Connection, name: &str, version: Option<u64>) -> Result<Option<Dataset>, StoreError> {
    let sql = "SELECT d.name, v.number, v.examples, v.created_millis, v.id FROM datasets d JOIN versions v ON v.dataset = d.id
               WHERE d.name = ?1 AND (?2 IS NULL OR v.number = ?2) ORDER BY v.number DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![name, version.map(signed)])?;
    rows.next()?.map(Dataset::read).transpose()
}

/// An import under way. Examples are staged in a temporary table, which belongs to this connection and dies with it: until the last step,
/// a single transaction, nothing of them is in the store and nobody has to wait.
struct Import<'a> {
    store: &'a Store,
    name: &'a str,
    connection: Connection,
    definition: Option<&'a Definition>,
    on_event: &'a mut dyn FnMut(ImportEvent),
    staged: u64,
    bad: u64,
    read: u64,
}

impl<'a> Import<'a> {
    fn begin(
        store: &'a Store,
        name: &'a str,
        definition: Option<&'a Definition>,
        on_event: &'a mut dyn FnMut(ImportEvent),
    ) -> Result<Self, StoreError> {
        if !dataset::is_name(name) {
            return Err(StoreError::Name);
        }
        let connection = schema::connect(&store.path)?;
        connection.execute_batch(
            "CREATE TEMP TABLE staged (
                seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, place TEXT NOT NULL,
                input TEXT NOT NULL, actual TEXT, expected TEXT, annotation TEXT
            ) STRICT;
            CREATE TEMP TABLE staged_documents (
                id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, example TEXT NOT NULL, path TEXT NOT NULL,
                sha256 TEXT, bytes INTEGER
            ) STRICT;
            BEGIN;",
        )?;
        Ok(Self { store, name, connection, definition, on_event, staged: 0, bad: 0, read: 0 })
    }

    fn count(&mut self) {
        self.read += 1;
        if self.read.is_multiple_of(PROGRESS) {
            (self.on_event)(ImportEvent::Read { examples: self.read });
        }
    }

    fn bad(&mut self, bad: BadExample) {
        self.count();
        self.bad += 1;
        (self.on_event)(ImportEvent::Bad(bad));
    }

    fn stage(&mut self, at: &str, example: &Example, documents: &[String]) -> Result<(), StoreError> {
        if let Some(Err(bad)) = self.definition.map(|definition| dataset::check(definition, example, at)) {
            self.bad(bad);
            return Ok(());
        }
        let text = |value: &serde_json::Value| value.to_string();
        let seq = signed(self.staged + 1);
        let inserted = self
            .connection
            .prepare_cached(
                "INSERT OR IGNORE INTO staged (seq, name, place, input, actual, expected, annotation)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                seq,
                example.name,
                at,
                text(&example.input),
                example.actual.as_ref().map(text),
                example.expected.as_ref().map(text),
                example.annotation
            ])?;
        if inserted == 0 {
            self.bad(duplicate(at, &example.name));
            return Ok(());
        }
        for path in documents {
            self.connection
                .prepare_cached("INSERT INTO staged_documents (seq, example, path) VALUES (?1, ?2, ?3)")?
                .execute(params![seq, example.name, path])?;
        }
        self.staged += 1;
        self.count();
        if let Some(path) = dataset::unsafe_integer(example) {
            (self.on_event)(ImportEvent::UnsafeInteger { example: example.name.clone(), path });
        }
        Ok(())
    }

    /// Keeps the contents of the staged documents.
    fn keep_documents(&mut self, folder: &Folder) -> Result<(), StoreError> {
        let (mut after, mut left) = (0, MAX_DOCUMENT_BYTES);
        loop {
            let sql = "SELECT id, example, path FROM staged_documents WHERE id > ?1 ORDER BY id LIMIT 1";
            let next: Option<(i64, String, String)> = self
                .connection
                .prepare_cached(sql)?
                .query_row([after], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((id, example, path)) = next else { return Ok(()) };
            let failed = |source| StoreError::File { path: format!("examples/{example}/{path}").into(), source };
            let mut file = folder.document(&example, &path).map_err(failed)?;
            let kept = self.store.files.put(&mut file, left)?;
            let (digest, bytes) = kept.ok_or(StoreError::DocumentsTooLarge { limit: MAX_DOCUMENT_BYTES })?;
            left -= bytes;
            self.connection
                .prepare_cached("UPDATE staged_documents SET sha256 = ?2, bytes = ?3 WHERE id = ?1")?
                .execute(params![id, digest, signed(bytes)])?;
            after = id;
        }
    }

    fn commit(mut self, mode: ImportMode, folder: Option<&Folder>) -> Result<Dataset, StoreError> {
        if self.bad == 0
            && let Some(folder) = folder
        {
            self.keep_documents(folder)?;
        }
        if self.bad > 0 {
            return Err(StoreError::BadExamples { count: self.bad });
        }
        self.connection.execute_batch("COMMIT")?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let current = find(&transaction, self.name, None)?;
        let target = match (mode, current) {
            (ImportMode::Append, Some(current)) => current,
            (_, current) => {
                transaction.execute("INSERT OR IGNORE INTO datasets (name) VALUES (?1)", [self.name])?;
                let version = current.map_or(1, |current| current.version + 1);
                transaction.execute(
                    "INSERT INTO versions (dataset, number, examples, created_millis)
                     SELECT id, ?2, 0, ?3 FROM datasets WHERE name = ?1",
                    params![self.name, signed(version), now()],
                )?;
                by_id(&transaction, transaction.last_insert_rowid())?
            }
        };
        let mut taken = 0;
        {
            let sql = "SELECT s.place, s.name FROM staged s JOIN examples e ON e.version = ?1 AND e.name = s.name ORDER BY s.seq";
            let mut statement = transaction.prepare(sql)?;
            let mut rows = statement.query([target.id])?;
            while let Some(row) = rows.next()? {
                taken += 1;
                (self.on_event)(ImportEvent::Bad(duplicate(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?)));
            }
        }
        if taken > 0 {
            return Err(StoreError::BadExamples { count: taken });
        }
        let offset = signed(target.examples);
        transaction.execute(
            "INSERT INTO examples (version, seq, name, input, actual, expected, annotation)
             SELECT ?1, seq + ?2, name, input, actual, expected, annotation FROM staged ORDER BY seq",
            params![target.id, offset],
        )?;
        transaction.execute(
            "INSERT INTO documents (version, seq, path, sha256, bytes)
             SELECT ?1, seq + ?2, path, sha256, bytes FROM staged_documents",
            params![target.id, offset],
        )?;
        transaction.execute(
            "UPDATE versions SET examples = examples + ?2 WHERE id = ?1",
            params![target.id, signed(self.staged)],
        )?;
        transaction.commit()?;
        (self.on_event)(ImportEvent::Read { examples: self.read });
        Ok(Dataset { examples: target.examples + self.staged, ..target })
    }
}

fn duplicate(at: &str, name: &str) -> BadExample {
    let problem = Failure {
        code: "X_EXAMPLE_INVALID".into(),
        message: "there is an example of this name already".into(),
        path: None,
    };
    BadExample { at: at.to_owned(), name: Some(name.to_owned()), problems: vec![problem] }
}

/// Which examples of a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub version: i64,
    /// The highest number that belongs to it.
    pub last: u64,
    /// The experiment whose selection it is; none for all.
    pub selection: Option<i64>,
}

/// See [`Store::examples`]. After an error there is nothing more.
#[derive(Debug)]
pub struct Examples<'s> {
    store: &'s Store,
    scope: Scope,
    after: u64,
    page: VecDeque<StoredExample>,
}

impl<'s> Examples<'s> {
    pub(super) fn new(store: &'s Store, scope: Scope) -> Self {
        Self { store, scope, after: 0, page: VecDeque::new() }
    }
}

impl Iterator for Examples<'_> {
    type Item = Result<StoredExample, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && self.after < self.scope.last {
            match self.store.page(&self.scope, self.after) {
                Ok(page) => self.page = page,
                Err(error) => {
                    self.after = self.scope.last;
                    return Some(Err(error));
                }
            }
        }
        let next = self.page.pop_front()?;
        self.after = next.seq;
        Some(Ok(next))
    }
}

/// The columns of [`read_example`].
const COLUMNS: &str = "e.seq, e.name, e.input, e.actual, e.expected, e.annotation";

impl Store {
    /// The next examples behind a number. Empty at the end.
    pub(super) fn page(&self, scope: &Scope, after: u64) -> Result<VecDeque<StoredExample>, StoreError> {
        let (from, condition) = match scope.selection {
            None => ("examples e", "e.seq > ?2 AND e.seq <= ?3 AND ?4 IS NULL ORDER BY e.seq"),
            Some(_) => (
                "selections s JOIN examples e ON e.seq = s.seq",
                "s.experiment = ?4 AND s.seq > ?2 AND s.seq <= ?3 ORDER BY s.seq",
            ),
        };
        let sql = format!("SELECT {COLUMNS} FROM {from} WHERE e.version = ?1 AND {condition} LIMIT {PAGE}");
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![scope.version, signed(after), signed(scope.last), scope.selection])?;
        let (mut page, mut bytes) = (VecDeque::new(), 0);
        let mut before = after;
        while let Some(row) = rows.next()? {
            let (example, size) = read_example(row, scope.version)?;
            if scope.selection.is_none() && example.seq != before + 1 {
                return Err(StoreError::damaged(place(scope.version, before + 1), "it is missing"));
            }
            before = example.seq;
            page.push_back(example);
            bytes += size;
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        if scope.selection.is_none() && page.is_empty() && after < scope.last {
            return Err(StoreError::damaged(place(scope.version, after + 1), "it is missing"));
        }
        Ok(page)
    }
}

fn place(version: i64, seq: u64) -> String {
    format!("the table `examples`, version {version}, number {seq}")
}

/// An example and about how many bytes it has.
fn read_example(row: &Row<'_>, version: i64) -> Result<(StoredExample, usize), StoreError> {
    let seq = unsigned(row.get(0)?, || place(version, 0))?;
    let place = || place(version, seq);
    let text = |column: usize| -> Result<Option<&str>, StoreError> {
        let value = row.get_ref(column)?;
        value.as_str_or_null().map_err(|_| StoreError::damaged(place(), "a column is no text"))
    };
    let mut bytes = 0;
    let mut value = |column: usize| -> Result<Option<serde_json::Value>, StoreError> {
        let Some(text) = text(column)? else { return Ok(None) };
        bytes += text.len();
        json(text, MAX_JSON_BYTES, place).map(Some)
    };
    let missing = || StoreError::damaged(place(), "a column is empty");
    let (input, actual, expected) = (value(2)?, value(3)?, value(4)?);
    let example = Example {
        name: text(1)?.ok_or_else(missing)?.to_owned(),
        input: input.ok_or_else(missing)?,
        actual,
        expected,
        annotation: text(5)?.map(str::to_owned),
    };
    match dataset::shape(&example).first() {
        Some(problem) => Err(StoreError::damaged(place(), problem.message.clone())),
        None => Ok((StoredExample { seq, example }, bytes)),
    }
}
