//! The checks that `x-format` names, as SCHEMA-IR.md defines them.

use super::Fuel;
use super::pattern::{Pattern, is_space};
use serde_json::Value;
use std::net::Ipv6Addr;
use std::sync::Arc;
use url::Url;

#[derive(Debug)]
pub(super) enum Format {
    Url { hostname: Option<Arc<Pattern>>, protocol: Option<Arc<Pattern>>, web: bool },
    Ipv6,
    CidrV6,
    CreditCard,
    Iban,
    Jwt { algorithm: Option<String> },
}

impl Format {
    pub fn accepts(&self, text: &str, fuel: &mut Fuel) -> bool {
        if !fuel.spend(1 + text.len() as u64 / 4) {
            return false;
        }
        match self {
            Self::Url { hostname, protocol, web } => url(text, hostname.as_deref(), protocol.as_deref(), *web, fuel),
            Self::Ipv6 => ipv6(text),
            Self::CidrV6 => text.split_once('/').is_some_and(|(address, bits)| ipv6(address) && prefix_length(bits)),
            Self::CreditCard => credit_card(text),
            Self::Iban => iban(text),
            Self::Jwt { algorithm } => jwt(text, algorithm.as_deref()),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url { hostname, protocol, .. } => {
                f.write_str("an absolute URL")?;
                if let Some(pattern) = hostname {
                    write!(f, " with a host name that matches {pattern}")?;
                }
                if let Some(pattern) = protocol {
                    write!(f, "{} a scheme that matches {pattern}", if hostname.is_some() { " and" } else { " with" })?;
                }
                Ok(())
            }
            Self::Ipv6 => f.write_str("an IPv6 address"),
            Self::CidrV6 => f.write_str("an IPv6 address range"),
            Self::CreditCard => f.write_str("a credit card number"),
            Self::Iban => f.write_str("an IBAN"),
            Self::Jwt { algorithm: None } => f.write_str("a JSON Web Token"),
            Self::Jwt { algorithm: Some(algorithm) } => write!(f, "a JSON Web Token with the algorithm `{algorithm}`"),
        }
    }
}

fn url(text: &str, hostname: Option<&Pattern>, protocol: Option<&Pattern>, web: bool, fuel: &mut Fuel) -> bool {
    if text.starts_with(is_space) || text.ends_with(is_space) || text.contains(['\t', '\n', '\r']) {
        return false;
    }
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if web && !begins("http://") && !begins("https://") {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    hostname.is_none_or(|pattern| pattern.is_match(url.host_str().unwrap_or_default(), fuel))
        && protocol.is_none_or(|pattern| pattern.is_match(url.scheme(), fuel))
}

fn ipv6(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_hexdigit() || letter == b':' || letter == b'.')
        && text.parse::<Ipv6Addr>().is_ok()
}

fn prefix_length(text: &str) -> bool {
    let plain =
        text.len() <= 3 && text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain && text.parse::<u8>().is_ok_and(|bits| bits <= 128)
}

fn credit_card(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut digits = Vec::with_capacity(19);
    for (index, &letter) in bytes.iter().enumerate() {
        match letter {
            b'0'..=b'9' if digits.len() < 19 => digits.push(u32::from(letter - b'0')),
            b' ' | b'-'
                if index > 0
                    && bytes[index - 1].is_ascii_digit()
                    && bytes.get(index + 1).is_some_and(u8::is_ascii_digit) => {}
            _ => return false,
        }
    }
    let luhn = |(index, &digit): (usize, &u32)| if index % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 };
    digits.len() >= 12 && digits.iter().rev().enumerate().map(luhn).sum::<u32>() % 10 == 0
}

fn iban(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !(15..=34).contains(&bytes.len()) {
        return false;
    }
    let (country, rest) = bytes.split_at(2);
    let (check, account) = rest.split_at(2);
    let shape = country.iter().all(u8::is_ascii_uppercase)
        && check.iter().all(u8::is_ascii_digit)
        && ![b"00", b"01", b"99"].contains(&check.try_into().expect("split at two"))
        && account.iter().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
    // ISO 7064: letters count as 10 to 35, that is two digits.
    let remainder = |sum: u32, letter: &u8| match letter {
        b'0'..=b'9' => (sum * 10 + u32::from(letter - b'0')) % 97,
        _ => (sum * 100 + u32::from(letter - b'A') + 10) % 97,
    };
    shape && account.iter().chain(country).chain(check).fold(0, remainder) == 1
}

fn jwt(text: &str, algorithm: Option<&str>) -> bool {
    let mut parts = text.split('.');
    let (Some(header), Some(_), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let Some(header) = base64(header) else { return false };
    let Ok(Value::Object(header)) = serde_json::from_str(&header) else { return false };
    // Zod asks for an `alg` that JavaScript counts as true, of whatever type.
    let is_true = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    };
    let alg = header.get("alg").filter(|alg| is_true(alg));
    alg.is_some_and(|alg| algorithm.is_none_or(|wanted| alg == wanted))
        && header.get("typ").is_none_or(|typ| typ == "JWT")
}

/// What JavaScript's `atob` answers: every byte becomes the letter of that number.
fn base64(text: &str) -> Option<String> {
    let mut letters: Vec<u8> =
        text.bytes().filter(|letter| !matches!(letter, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).collect();
    if letters.len().is_multiple_of(4) {
        let padding = letters.iter().rev().take(2).take_while(|&&letter| letter == b'=').count();
        letters.truncate(letters.len() - padding);
    }
    if letters.len() % 4 == 1 {
        return None;
    }
    let mut result = String::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in letters {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            result.push(char::from((bits >> count) as u8));
            bits &= (1 << count) - 1;
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(format: &Format, text: &str) -> bool {
        format.accepts(text, &mut Fuel::new())
    }

    #[test]
    fn urls() {
        let any = Format::Url { hostname: None, protocol: None, web: false };
        for good in ["https://example.com/x", "mailto:a@b.c", "http:a", "HTTP://A.b", "x:"] {
            assert!(accepts(&any, good), "{good}");
        }
        for bad in [
            "",
            "not a url",
            "/x",
            "//a.b",
            " http://a.b",
            "http://a.b\u{feff}",
            "http://a.b/\t",
            "http://",
            "http://[::g]",
        ] {
            assert!(!accepts(&any, bad), "{bad}");
        }
        let pattern = |source| Some(Arc::new(Pattern::new(source, "").expect("it compiles")));
        let web = Format::Url { hostname: pattern("^[a-z]+\\.org$"), protocol: pattern("^https?$"), web: true };
        assert!(accepts(&web, "HTTPS://Example.org:8080/"));
        assert!(!accepts(&web, "http:example.org"));
        assert!(!accepts(&web, "ftp://example.org"));
        assert!(!accepts(&web, "http://example.com"));
        assert_eq!(
            web.to_string(),
            "an absolute URL with a host name that matches /^[a-z]+\\.org$/ and a scheme that matches /^https?$/"
        );
    }

    #[test]
    fn addresses() {
        assert!(
            accepts(&Format::Ipv6, "::1")
                && accepts(&Format::Ipv6, "::ffff:1.2.3.4")
                && accepts(&Format::Ipv6, "2001:DB8::")
        );
        assert!(
            !accepts(&Format::Ipv6, "1::g")
                && !accepts(&Format::Ipv6, "1.2.3.4")
                && !accepts(&Format::Ipv6, "fe80::1%eth0")
                && !accepts(&Format::Ipv6, "")
        );
        assert!(accepts(&Format::CidrV6, "::/0") && accepts(&Format::CidrV6, "2001:db8::/128"));
        for bad in ["::/129", "::/", "::/01", "::/+1", "::", "::/1/2"] {
            assert!(!accepts(&Format::CidrV6, bad), "{bad}");
        }
    }

    #[test]
    fn numbers_with_check_digits() {
        assert!(accepts(&Format::CreditCard, "4111 1111-1111 1111"));
        for bad in [
            "4111111111111112",
            "4111  111111111111",
            "-4111111111111111",
            "4111111111111111 ",
            "00000000000",
            "4111a11111111111",
        ] {
            assert!(!accepts(&Format::CreditCard, bad), "{bad}");
        }
        assert!(accepts(&Format::CreditCard, "000000000000") && !accepts(&Format::CreditCard, "00000000000000000000"));
        assert!(accepts(&Format::Iban, "DE89370400440532013000") && accepts(&Format::Iban, "GB82WEST12345698765432"));
        for bad in ["DE88370400440532013000", "DE893704004405320130 00", "de89370400440532013000", "DE01", "Ä"] {
            assert!(!accepts(&Format::Iban, bad), "{bad}");
        }
    }

    #[test]
    fn tokens() {
        let token = |header: &str| format!("{header}.e30.x");
        let any = Format::Jwt { algorithm: None };
        let wanted = Format::Jwt { algorithm: Some("HS256".into()) };
        // {"alg":"HS256","typ":"JWT"}, {"alg":"none"}, {"alg":"HS256","typ":"x"}, {"alg":""}, [1]
        let good = token("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
        assert!(accepts(&any, &good) && accepts(&wanted, &good));
        assert!(
            accepts(&any, &token("eyJhbGciOiJub25lIn0"))
                && accepts(&any, &token("eyJhbGciOiJub25lIn0="))
                && !accepts(&wanted, &token("eyJhbGciOiJub25lIn0="))
        );
        // {"alg":1}, {"alg":{}}: Zod does not ask for text. {"alg":0}, {"alg":false}, {"alg":null}
        for odd in ["eyJhbGciOjF9", "eyJhbGciOnt9fQ"] {
            assert!(accepts(&any, &token(odd)) && !accepts(&wanted, &token(odd)), "{odd}");
        }
        for bad in ["eyJhbGciOjB9", "eyJhbGciOmZhbHNlfQ", "eyJhbGciOm51bGx9"] {
            assert!(!accepts(&any, &token(bad)), "{bad}");
        }
        for bad in ["eyJhbGciOiJIUzI1NiIsInR5cCI6IngifQ", "eyJhbGciOiIifQ", "WzFd", "", "%%%%", "e"] {
            assert!(!accepts(&any, &token(bad)), "{bad}");
        }
        assert!(!accepts(&any, "eyJhbGciOiJub25lIn0.x") && !accepts(&any, "eyJhbGciOiJub25lIn0.x.y.z"));
    }
}
