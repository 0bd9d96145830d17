//! Experiments in a store: what is run, what came of it, and who runs it.

use super::dataset::{Examples, Scope, by_id};
use super::files::Lock;
use super::{Dataset, Store, StoreError, json, now, signed, unsigned};
use crate::dataset::MAX_NAME_BYTES;
use crate::definition::MAX_EVALUATORS;
use crate::experiment::Source;
use crate::model::{RunResult, Status};
use crate::report::Summary;
use rusqlite::{Connection, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs read at a time, and their bytes beyond which a page ends early.
const PAGE: usize = 256;
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a result's or output's JSON that is read back. A callback's result has 256 KiB, an imported output 4 MiB.
const MAX_RUN_BYTES: usize = 64 * 1024 * 1024;
/// Levels of a result's JSON: twice those of an output.
const MAX_RESULT_DEPTH: usize = 256;
/// Bytes of a definition's JSON that is read back.
const MAX_DEFINITION_BYTES: usize = 64 * 1024 * 1024;

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentStatus {
    /// Not started.
    Queued,
    /// Started and not ended; or its process was killed, and it can be resumed.
    Running,
    /// Every run has a result.
    Completed,
    /// Stopped before. The runs that had ended stay; it can be resumed.
    Cancelled,
}

impl ExperimentStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An experiment: a definition over the examples of a dataset's version (7.2). Later imports change nothing of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Ten lower-case letters and digits.
    pub id: String,
    /// The version of the dataset, with as many examples as it had when the experiment was made.
    pub dataset: Dataset,
    /// How many of them were chosen; none for all.
    pub selected: Option<u64>,
    /// How often each example is run.
    pub repeat: u32,
    /// How many run at once.
    pub concurrency: u32,
    /// Where outputs come from.
    pub source: Source,
    /// SHA-256 of the bundle; [`Store::bundle`] reads it.
    pub bundle: String,
    /// The agent's export.
    pub agent: String,
    /// What is evaluated, for people: `{"name","evaluators":[…],"pass":{…}}` as the manifest has it, so with the options and prompts, the
    /// weights and threshold or the predicate's source (EV-102, EV-103).
    pub definition: Value,
    /// How far it is.
    pub status: ExperimentStatus,
    /// When it was made, in milliseconds since 1970.
    pub created_millis: i64,
    /// When it was first started.
    pub started_millis: Option<i64>,
    /// When it was last ended or cancelled.
    pub ended_millis: Option<i64>,
    key: i64,
}

impl Experiment {
    /// How many examples it is about.
    pub fn examples(&self) -> u64 {
        self.selected.unwrap_or(self.dataset.examples)
    }

    /// How many runs it has when it is complete.
    pub fn total(&self) -> u64 {
        self.examples().saturating_mul(u64::from(self.repeat))
    }

    /// The experiment whose outputs are scored again, if that is what this one does (D-79).
    pub fn rescores(&self) -> Option<&str> {
        match &self.source {
            Source::Stored { experiment } => Some(experiment),
            _ => None,
        }
    }
}

/// Runs that have a result, by outcome. They add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub total: u64,
    /// Decided, and passed.
    pub passed: u64,
    /// Decided, and not passed.
    pub failed: u64,
    /// Not decided.
    pub errors: u64,
}

/// A run's result in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// The example's number in its version.
    pub seq: u64,
    /// What came of it.
    pub result: RunResult,
}

/// What a new experiment is made of.
pub(crate) struct NewExperiment<'a> {
    pub dataset: &'a Dataset,
    pub selection: Option<&'a [u64]>,
    pub repeat: u32,
    pub concurrency: u32,
    pub source: &'a Source,
    pub bundle: &'a str,
    pub agent: &'a str,
    pub definition: &'a Value,
}

/// The right to run an experiment. It ends when it is dropped, and with the process.
#[derive(Debug)]
pub(crate) struct Lease {
    _lock: Lock,
}

/// A run's result as it is written.
#[derive(Debug)]
pub(crate) struct RunRow {
    pub seq: u64,
    pub repetition: u32,
    pub status: Status,
    pub passed: bool,
    pub output: Option<String>,
    pub result: String,
}

impl RunRow {
    /// The output has a column of its own: it may be null, which is not the same as none, and a summary has no use for it.
    pub fn new(seq: u64, result: &mut RunResult) -> Self {
        let output = result.output.take();
        Self {
            seq,
            repetition: result.repetition,
            status: result.status,
            passed: result.passed,
            output: output.map(|output| output.to_string()),
            // A result is data: it has no key that is no text and no number that JSON has not.
            result: serde_json::to_string(result).unwrap_or_default(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.result.len() + self.output.as_ref().map_or(0, String::len)
    }
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Decided => "decided",
        Status::Blocked => "blocked",
        Status::RunFailed => "run-failed",
    }
}

/// A short text that no other experiment has, as far as time, process and count tell; the table makes sure.
fn new_id() -> String {
    use sha2::{Digest, Sha256};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let seed = format!("{nanos} {} {}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let letters = b"abcdefghjkmnpqrstuvwxyz023456789";
    Sha256::digest(seed).iter().take(10).map(|byte| char::from(letters[usize::from(byte % 32)])).collect()
}

const COLUMNS: &str =
    "id, name, version, examples, selected, repeat, concurrency, source, bundle, agent, definition, status,
    created_millis, started_millis, ended_millis";

impl Store {
    pub(crate) fn create(&self, new: &NewExperiment<'_>) -> Result<Experiment, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let source = serde_json::to_string(new.source).unwrap_or_default();
        let mut id = new_id();
        loop {
            let made = transaction.execute(
                "INSERT OR IGNORE INTO experiments
                    (name, version, examples, selected, repeat, concurrency, source, bundle, agent, definition, status, created_millis)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'queued', ?11)",
                params![
                    id,
                    new.dataset.id,
                    signed(new.dataset.examples),
                    new.selection.map(|selection| signed(selection.len() as u64)),
                    new.repeat,
                    new.concurrency,
                    source,
                    new.bundle,
                    new.agent,
                    new.definition.to_string(),
                    now()
                ],
            )?;
            if made == 1 {
                break;
            }
            id = new_id();
        }
        let key = transaction.last_insert_rowid();
        for seq in new.selection.unwrap_or_default() {
            transaction
                .prepare_cached("INSERT INTO selections (experiment, seq) VALUES (?1, ?2)")?
                .execute(params![key, signed(*seq)])?;
        }
        transaction.commit()?;
        drop(connection);
        self.experiment(&id)
    }

    /// An experiment by its id.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub fn experiment(&self, id: &str) -> Result<Experiment, StoreError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM experiments WHERE name = ?1"))?;
        let mut rows = statement.query([id])?;
        match rows.next()? {
            Some(row) => read(&connection, row),
            None => Err(StoreError::UnknownExperiment { id: id.chars().take(MAX_NAME_BYTES).collect() }),
        }
    }

    /// The newest experiments first, at most so many.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn experiments(&self, most: u32) -> Result<Vec<Experiment>, StoreError> {
        let connection = self.connection();
        let mut statement =
            connection.prepare(&format!("SELECT {COLUMNS} FROM experiments ORDER BY id DESC LIMIT ?1"))?;
        let mut rows = statement.query([most])?;
        let mut experiments = Vec::new();
        while let Some(row) = rows.next()? {
            experiments.push(read(&connection, row)?);
        }
        Ok(experiments)
    }

    /// The runs of an experiment by outcome, without reading them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn counts(&self, experiment: &Experiment) -> Result<Counts, StoreError> {
        let connection = self.connection();
        let sql = "SELECT status, passed, count(*) FROM runs WHERE experiment = ?1 GROUP BY status, passed";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([experiment.key])?;
        let mut counts = Counts::default();
        while let Some(row) = rows.next()? {
            let count = unsigned(row.get(2)?, || "the table `runs`".into())?;
            counts.total += count;
            match (row.get_ref(0)?.as_str(), row.get(1)?) {
                (Ok("decided"), true) => counts.passed += count,
                (Ok("decided"), false) => counts.failed += count,
                _ => counts.errors += count,
            }
        }
        Ok(counts)
    }

    /// The runs of an experiment with their outputs, in the order of examples and repetitions, a page at a time.
    pub fn runs<'s>(&'s self, experiment: &Experiment) -> Runs<'s> {
        Runs {
            store: self,
            key: experiment.key,
            repeat: experiment.repeat,
            with_output: true,
            after: Some((0, 0)),
            page: VecDeque::new(),
        }
    }

    /// The summary of an experiment's runs (7.5), made while they stream by. It does not depend on the order in which they ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn summary(&self, experiment: &Experiment) -> Result<Summary, StoreError> {
        let mut summary = Summary::default();
        for run in (Runs { with_output: false, ..self.runs(experiment) }) {
            summary.add(&run?.result);
        }
        Ok(summary)
    }

    /// The right to run an experiment.
    pub(crate) fn lease(&self, experiment: &Experiment) -> Result<Lease, StoreError> {
        let lock = self.files.try_lock(&experiment.id)?;
        lock.map(|lock| Lease { _lock: lock }).ok_or_else(|| StoreError::Running { id: experiment.id.clone() })
    }

    pub(crate) fn set_status(&self, experiment: &Experiment, status: ExperimentStatus) -> Result<(), StoreError> {
        let sql = match status {
            ExperimentStatus::Running => {
                "UPDATE experiments SET status = ?2, started_millis = coalesce(started_millis, ?3), ended_millis = NULL WHERE id = ?1"
            }
            _ => "UPDATE experiments SET status = ?2, ended_millis = ?3 WHERE id = ?1",
        };
        self.connection().execute(sql, params![experiment.key, status.name(), now()])?;
        Ok(())
    }

    /// The examples an experiment is about.
    pub(crate) fn examples_of<'s>(&'s self, experiment: &Experiment) -> Examples<'s> {
        let selection = experiment.selected.map(|_| experiment.key);
        let scope = Scope { version: experiment.dataset.id, last: experiment.dataset.examples, selection };
        Examples::new(self, scope)
    }

    /// The numbers of some examples, ascending.
    pub(crate) fn numbers(&self, dataset: &Dataset, names: &[String]) -> Result<Vec<u64>, StoreError> {
        let mut numbers = Vec::with_capacity(names.len());
        for name in names {
            numbers.push(self.example(dataset, name)?.seq);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The numbers an experiment was restricted to; none for all.
    pub(crate) fn selection(&self, experiment: &Experiment) -> Result<Option<Vec<u64>>, StoreError> {
        if experiment.selected.is_none() {
            return Ok(None);
        }
        let connection = self.connection();
        let mut statement = connection.prepare("SELECT seq FROM selections WHERE experiment = ?1 ORDER BY seq")?;
        let mut rows = statement.query([experiment.key])?;
        let mut numbers = Vec::new();
        while let Some(row) = rows.next()? {
            numbers.push(unsigned(row.get(0)?, || "the table `selections`".into())?);
        }
        Ok(Some(numbers))
    }

    /// Which runs of an example have a result, and whether that is a decision: by repetition.
    pub(crate) fn finished(&self, experiment: &Experiment, seq: u64) -> Result<HashMap<u32, bool>, StoreError> {
        let connection = self.connection();
        let sql = "SELECT repetition, status = 'decided' FROM runs WHERE experiment = ?1 AND seq = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![experiment.key, signed(seq)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What came of one run; none if it has no result.
    pub(crate) fn run_of(
        &self,
        experiment: &Experiment,
        seq: u64,
        repetition: u32,
    ) -> Result<Option<RunResult>, StoreError> {
        let connection = self.connection();
        let sql = "SELECT seq, repetition, status, passed, result, output FROM runs
                   WHERE experiment = ?1 AND seq = ?2 AND repetition = ?3";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![experiment.key, signed(seq), repetition])?;
        let row = rows.next()?.map(|row| read_run(row, experiment.repeat)).transpose()?;
        Ok(row.map(|(run, _)| run.result))
    }

    /// Writes results in one transaction; one that is there is replaced.
    pub(crate) fn write_runs(&self, experiment: &Experiment, runs: &[RunRow]) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut statement = transaction.prepare_cached(
                "INSERT OR REPLACE INTO runs (experiment, seq, repetition, status, passed, output, result)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for run in runs {
                statement.execute(params![
                    experiment.key,
                    signed(run.seq),
                    run.repetition,
                    status_name(run.status),
                    run.passed,
                    run.output,
                    run.result
                ])?;
            }
        }
        Ok(transaction.commit()?)
    }
}

fn read(connection: &Connection, row: &Row<'_>) -> Result<Experiment, StoreError> {
    let id: String = row.get(1)?;
    let place = || format!("the experiment `{}`", id.chars().take(40).collect::<String>());
    // It names a lock file.
    if id.is_empty() || id.len() > 40 || !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Err(StoreError::damaged(place(), "its id is no id"));
    }
    let damaged = |what: &str| StoreError::damaged(place(), what);
    let now = by_id(connection, row.get(2)?)?;
    let examples = unsigned(row.get(3)?, place)?;
    if examples > now.examples {
        return Err(damaged("it has more examples than its dataset"));
    }
    let selected = row.get::<_, Option<i64>>(4)?.map(|count| unsigned(count, place)).transpose()?;
    if selected.is_some_and(|selected| selected > examples) {
        return Err(damaged("more examples are selected than there are"));
    }
    let (repeat, concurrency): (u32, u32) = (row.get(5)?, row.get(6)?);
    if repeat == 0 || concurrency == 0 {
        return Err(damaged("it would run nothing"));
    }
    let source = serde_json::from_value(json(row.get_ref(7)?.as_str().unwrap_or_default(), 64 * 1024, place)?);
    let status = serde_json::from_value(Value::from(row.get::<_, String>(11)?));
    Ok(Experiment {
        dataset: Dataset { examples, ..now },
        selected,
        repeat,
        concurrency,
        source: source.map_err(|_| damaged("its source is unknown"))?,
        bundle: row.get(8)?,
        agent: row.get(9)?,
        definition: json(row.get_ref(10)?.as_str().unwrap_or_default(), MAX_DEFINITION_BYTES, place)?,
        status: status.map_err(|_| damaged("its status is unknown"))?,
        created_millis: row.get(12)?,
        started_millis: row.get(13)?,
        ended_millis: row.get(14)?,
        key: row.get(0)?,
        id,
    })
}

/// See [`Store::runs`]. After an error there is nothing more.
#[derive(Debug)]
pub struct Runs<'s> {
    store: &'s Store,
    key: i64,
    repeat: u32,
    with_output: bool,
    /// The last run that was read; none at the end. Numbers of examples begin at 1, so before the first there is 0.
    after: Option<(u64, u32)>,
    page: VecDeque<StoredRun>,
}

impl Iterator for Runs<'_> {
    type Item = Result<StoredRun, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && let Some(after) = self.after
        {
            match self.read_page(after) {
                Ok(page) => self.after = page.back().map(|run| (run.seq, run.result.repetition)),
                Err(error) => {
                    self.after = None;
                    self.page.clear();
                    return Some(Err(error));
                }
            }
        }
        self.page.pop_front().map(Ok)
    }
}

impl Runs<'_> {
    fn read_page(&mut self, after: (u64, u32)) -> Result<&VecDeque<StoredRun>, StoreError> {
        let output = if self.with_output { "output" } else { "NULL" };
        let sql = format!(
            "SELECT seq, repetition, status, passed, result, {output} FROM runs
             WHERE experiment = ?1 AND (seq, repetition) > (?2, ?3) ORDER BY seq, repetition LIMIT {PAGE}"
        );
        let connection = self.store.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![self.key, signed(after.0), after.1])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (run, size) = read_run(row, self.repeat)?;
            self.page.push_back(run);
            bytes += size;
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(&self.page)
    }
}

/// A result from its JSON. A difference may show a value of the depth that an output may have, so a result nests deeper than an output.
fn parse_result(text: &str) -> Result<RunResult, String> {
    if text.len() > MAX_RUN_BYTES {
        return Err("a text is longer than it may be".into());
    }
    if nests_deeper(text, MAX_RESULT_DEPTH) {
        return Err(format!("a text nests deeper than {MAX_RESULT_DEPTH} levels"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    // The limit of the library is that of an output.
    reader.disable_recursion_limit();
    let result = RunResult::deserialize(&mut reader).and_then(|result| reader.end().map(|()| result));
    result.map_err(|error| format!("it is no result: {error}"))
}

/// Whether a JSON text nests deeper than so many levels.
fn nests_deeper(text: &str, levels: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

/// A run and about how many bytes it has. Columns and JSON must say the same, and nothing that no evaluation can give.
fn read_run(row: &Row<'_>, repeat: u32) -> Result<(StoredRun, usize), StoreError> {
    let (seq, repetition): (i64, i64) = (row.get(0)?, row.get(1)?);
    let place = || format!("the table `runs`, example {seq}, repetition {repetition}");
    let damaged = |what: &str| StoreError::damaged(place(), what);
    let text = row.get_ref(4)?.as_str().map_err(|_| damaged("a column is no text"))?;
    let mut result = parse_result(text).map_err(|what| StoreError::damaged(place(), what))?;
    let mut bytes = text.len();
    if let Some(output) = row.get_ref(5)?.as_str_or_null().map_err(|_| damaged("a column is no text"))? {
        bytes += output.len();
        result.output = Some(json(output, MAX_RUN_BYTES, place)?);
    }
    let (status, passed): (String, bool) = (row.get(2)?, row.get(3)?);
    let same = status == status_name(result.status)
        && passed == result.passed
        && i64::from(result.repetition) == repetition
        && result.repetition < repeat;
    let scores = result.evaluators.len() <= MAX_EVALUATORS
        && result.evaluators.iter().all(|it| {
            it.score.is_some() != it.error.is_some() && it.score.is_none_or(|score| (0.0..=1.0).contains(&score))
        });
    let verdict = (result.status == Status::Decided) == result.error.is_none()
        && (result.status == Status::Decided || (!result.passed && result.value.is_none()));
    if !same || !scores || !verdict || !crate::dataset::is_name(&result.example) {
        return Err(damaged("it contradicts itself"));
    }
    Ok((StoredRun { seq: unsigned(seq, place)?, result }, bytes))
}
