//! Keys of services, which nothing prints.

use reqwest::header::HeaderValue;
use std::fmt;
use thiserror::Error;

/// Characters of a key. Services give far shorter ones; headers end at a few times as much.
pub const MAX_SECRET: usize = 4_096;

/// A key that is sent to a service and shown to nobody: `Debug` and `Display` write a placeholder.
#[derive(Clone)]
pub struct Secret(HeaderValue);

/// A text is no key. What it is does not say: it may be half of one.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a key is 1 to {MAX_SECRET} printable ASCII characters without blanks between them")]
pub struct SecretInvalid;

impl SecretInvalid {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "E_KEY_INVALID"
    }
}

impl Secret {
    /// Takes a key. Blanks and line ends around it are left out, since files and variables often have them.
    ///
    /// # Errors
    /// When it is empty, longer than [`MAX_SECRET`], or has characters that no header can carry.
    pub fn new(key: &str) -> Result<Self, SecretInvalid> {
        let key = key.trim();
        if key.is_empty() || key.len() > MAX_SECRET || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretInvalid);
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| SecretInvalid)?;
        header.set_sensitive(true);
        Ok(Self(header))
    }

    /// The value of an `Authorization` header, marked as sensitive.
    pub(crate) fn bearer(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(hidden)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EV-85: credentials reach nobody but the service
    #[test]
    fn a_key_is_sent_and_not_shown() {
        let secret = Secret::new(" sk-1234567890\n").unwrap();
        assert_eq!(secret.bearer().to_str().unwrap(), "Bearer sk-1234567890");
        assert_eq!((format!("{secret:?}"), secret.to_string()), ("Secret(hidden)".into(), "(hidden)".into()));
        assert_eq!(format!("{:?}", secret.bearer()), "Sensitive");
    }

    #[test]
    fn what_no_header_carries_is_no_key() {
        let long = "x".repeat(MAX_SECRET + 1);
        for text in ["", " \n", "a b", "a\nX-Other: b", "a\0", "schlüssel", long.as_str()] {
            assert_eq!(Secret::new(text).unwrap_err(), SecretInvalid, "{text:?}");
        }
        assert!(Secret::new(&long[1..]).is_ok());
        assert_eq!(SecretInvalid.code(), "E_KEY_INVALID");
        assert!(!SecretInvalid.to_string().contains("sk-"));
    }
}
