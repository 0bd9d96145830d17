//! Replies of judges, kept so that a repeated experiment costs nothing.

use super::{Store, StoreError};
use rusqlite::OptionalExtension;

/// Bytes of a reply that is kept; a longer one is asked for again.
const MAX_REPLY_BYTES: usize = 256 * 1024;
/// Bytes of a key.
const MAX_KEY_BYTES: usize = 1024;

impl Store {
    /// The reply kept under a key.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn reply(&self, key: &str) -> Result<Option<String>, StoreError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached("SELECT reply FROM replies WHERE key = ?1")?;
        let reply: Option<String> = statement.query_row([key], |row| row.get(0)).optional()?;
        // Too long is not ours; whoever asks then asks the model.
        Ok(reply.filter(|reply| reply.len() <= MAX_REPLY_BYTES))
    }

    /// Keeps a reply under a key, instead of one that is there. One of more than 256 KiB is not kept, nor one whose key has more than
    /// 1,024 bytes.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep_reply(&self, key: &str, reply: &str) -> Result<(), StoreError> {
        if reply.len() <= MAX_REPLY_BYTES && key.len() <= MAX_KEY_BYTES {
            let connection = self.connection();
            connection
                .prepare_cached("INSERT OR REPLACE INTO replies (key, reply) VALUES (?1, ?2)")?
                .execute([key, reply])?;
        }
        Ok(())
    }
}
