//! The tables, how an older file gets them, and which files are refused.

use super::StoreError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// Marks the file as one of callcell's: `cell` in ASCII.
const APPLICATION_ID: i64 = 0x6365_6C6C;
/// How long a write waits for that of another process.
const BUSY: Duration = Duration::from_secs(30);

/// Number N brings a file from version N to N + 1.
const MIGRATIONS: [&str; 2] = [
    "CREATE TABLE datasets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE versions (
        id INTEGER PRIMARY KEY,
        dataset INTEGER NOT NULL REFERENCES datasets (id),
        number INTEGER NOT NULL,
        examples INTEGER NOT NULL,
        created_millis INTEGER NOT NULL,
        UNIQUE (dataset, number)
    ) STRICT;
    CREATE TABLE examples (
        version INTEGER NOT NULL REFERENCES versions (id),
        seq INTEGER NOT NULL,
        name TEXT NOT NULL,
        input TEXT NOT NULL,
        actual TEXT,
        expected TEXT,
        annotation TEXT,
        PRIMARY KEY (version, seq),
        UNIQUE (version, name)
    ) STRICT;
    CREATE TABLE documents (
        version INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        path TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (version, seq, path),
        FOREIGN KEY (version, seq) REFERENCES examples (version, seq)
    ) STRICT, WITHOUT ROWID;",
    "CREATE TABLE experiments (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL REFERENCES versions (id),
        examples INTEGER NOT NULL,
        selected INTEGER,
        repeat INTEGER NOT NULL,
        concurrency INTEGER NOT NULL,
        source TEXT NOT NULL,
        bundle TEXT NOT NULL,
        agent TEXT NOT NULL,
        definition TEXT NOT NULL,
        status TEXT NOT NULL,
        created_millis INTEGER NOT NULL,
        started_millis INTEGER,
        ended_millis INTEGER
    ) STRICT;
    CREATE TABLE selections (
        experiment INTEGER NOT NULL REFERENCES experiments (id),
        seq INTEGER NOT NULL,
        PRIMARY KEY (experiment, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
        experiment INTEGER NOT NULL REFERENCES experiments (id),
        seq INTEGER NOT NULL,
        repetition INTEGER NOT NULL,
        status TEXT NOT NULL,
        passed INTEGER NOT NULL,
        output TEXT,
        result TEXT NOT NULL,
        PRIMARY KEY (experiment, seq, repetition)
    ) STRICT;
    CREATE INDEX runs_by_outcome ON runs (experiment, status, passed);
    CREATE TABLE replies (
        key TEXT PRIMARY KEY,
        reply TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;",
];

/// The version this program writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Refuses a file that is something else, before anything is made in it or beside it.
pub(super) fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    header(path)?;
    match std::fs::metadata(path) {
        Ok(file) if file.len() > 0 => version(&connect(path)?, path).map(drop),
        _ => Ok(()),
    }
}

/// Opens the file, makes or migrates its tables. The caller holds the lock under which only one process does so.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(path)?;
    let version = version(&connection, path)?;
    if version > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
    }
    let done = usize::try_from(version).map_err(|_| StoreError::Foreign { path: path.to_owned() })?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    if done < MIGRATIONS.len() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        migrate(&transaction, done)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    // Triggers and views of somebody else's would act in this program's name.
    let own = Connection::open_in_memory()?;
    migrate(&own, 0)?;
    if tables(&own)? != tables(&connection)? {
        return Err(StoreError::damaged("the database file", "its tables are not those of a store"));
    }
    Ok(connection)
}

/// The version of the file's tables; 0 where there are none yet.
fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let foreign = || StoreError::Foreign { path: path.to_owned() };
    let number = |pragma: &str| -> Result<i64, StoreError> {
        Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
    };
    let id = number("application_id").map_err(|error| match error {
        StoreError::Damaged { .. } => foreign(),
        error => error,
    })?;
    let version = number("user_version")?;
    if id != APPLICATION_ID {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
        if id != 0 || version != 0 || tables != 0 {
            return Err(foreign());
        }
    }
    Ok(version)
}

/// A further connection to a file that [`open`] has looked at.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    // Without `SQLITE_OPEN_URI`: a name that begins with `file:` is a name.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // What was reported as finished stays so after a power failure.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn migrate(connection: &Connection, done: usize) -> Result<(), StoreError> {
    MIGRATIONS.iter().skip(done).try_for_each(|sql| Ok(connection.execute_batch(sql)?))
}

fn tables(connection: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Looks at a file before SQLite does: SQLite would take a text for an empty database's journal, and finds out that a file was cut
/// only when it comes to the missing pages.
fn header(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(failed)?,
    };
    let mut header = Vec::new();
    (&mut file).take(100).read_to_end(&mut header).map_err(failed)?;
    if header.is_empty() {
        return Ok(());
    }
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    // The count of pages holds only if the same change wrote both; pages in the log may not be in the file yet.
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if word(24) != word(92) || std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    if file.metadata().map_err(failed)?.len() < page * u64::from(word(28)) {
        return Err(StoreError::damaged("the database file", "it is cut short"));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file as version 1 wrote it.
    pub fn version_1(path: &Path) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
    }
}
