//! HTTP as judges and endpoints need it: one request each, no redirects, no decompression, bodies up to a limit, and errors that say
//! nothing of the host's addresses or keys.

use reqwest::{Client, Response, redirect, retry};
use std::time::Duration;
use thiserror::Error;
use url::{Host, Url};

/// How long a connection may take to come about. Less than a judge's deadline (D-70), so that another attempt is left.
const CONNECT: Duration = Duration::from_secs(10);

/// An address that requests cannot go to.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressInvalid {
    /// Neither `http` nor `https`.
    #[error("the address begins with neither `http://` nor `https://`")]
    Scheme,
    /// `https://name:password@…`: such an address would be printed with its password.
    #[error("the address holds a name or a password; give the key apart from it")]
    Credentials,
    /// The host's TLS or proxy settings cannot be used.
    #[error("the host's settings for TLS or its proxy cannot be used")]
    Settings,
}

impl AddressInvalid {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "E_ADDRESS_INVALID"
    }
}

/// A client for one service. It follows no redirect, because the key would go with it, repeats nothing by itself, and asks for no
/// compression and undoes none, because a few bytes could become gigabytes. Proxies are taken from the environment, except for
/// loopback addresses, which mean another machine there.
pub(crate) fn client(address: &Url) -> Result<Client, AddressInvalid> {
    if !matches!(address.scheme(), "http" | "https") {
        return Err(AddressInvalid::Scheme);
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(AddressInvalid::Credentials);
    }
    let mut builder = Client::builder()
        .user_agent(concat!("callcell/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .retry(retry::never())
        // Off already; another crate of the host's could turn them on for all.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(CONNECT);
    if is_loopback(address) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|_| AddressInvalid::Settings)
}

fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// An address as it may be shown: without query, which may hold a key, and without name and password.
pub(crate) fn shown(address: &Url) -> String {
    let mut address = address.clone();
    address.set_query(None);
    address.set_fragment(None);
    // Only addresses without a host refuse these, and they have neither.
    let _ = address.set_username("");
    let _ = address.set_password(None);
    address.into()
}

/// Why a body cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It has more bytes than it may have.
    TooLarge,
    /// It did not come to its end.
    Broken(&'static str),
}

/// The whole body, if it has at most `limit` bytes. No more than that is held, whatever the headers promise.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(BodyError::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| BodyError::Broken(sentence(&error)))? {
        if chunk.len() > limit - body.len() {
            return Err(BodyError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, without the address that the error itself would name.
pub(crate) fn sentence(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it took too long"
    } else if error.is_connect() {
        "there is no connection to it"
    } else {
        "the connection broke"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(address: &str) -> Option<AddressInvalid> {
        client(&Url::parse(address).unwrap()).err()
    }

    #[test]
    fn only_http_without_credentials_is_an_address() {
        for address in ["http://127.0.0.1:1/v1", "https://example.com/v1?api-version=1", "http://[::1]/"] {
            assert_eq!(refusal(address), None, "{address}");
        }
        for address in ["ftp://example.com/", "file:///etc/passwd", "data:text/plain,x", "unix:/run/x"] {
            assert_eq!(refusal(address), Some(AddressInvalid::Scheme), "{address}");
        }
        for address in ["https://name:password@example.com/", "https://name@example.com/", "http://:password@a/"] {
            assert_eq!(refusal(address), Some(AddressInvalid::Credentials), "{address}");
        }
        assert_eq!(AddressInvalid::Scheme.code(), "E_ADDRESS_INVALID");
    }

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let address = Url::parse("https://name:secret@example.com:8443/v1?key=secret#secret").unwrap();
        assert_eq!(shown(&address), "https://example.com:8443/v1");
    }

    #[test]
    fn loopback_is_told_by_name_and_number() {
        let loopback = |address: &str| is_loopback(&Url::parse(address).unwrap());
        for address in ["http://localhost:1/", "http://127.9.9.9/", "http://[::1]:1/"] {
            assert!(loopback(address), "{address}");
        }
        for address in ["http://localhost.example.com/", "http://10.0.0.1/", "http://[::2]/", "data:x"] {
            assert!(!loopback(address), "{address}");
        }
    }
}
