//! What of a judge's reply counts.

use crate::Score;
use crate::model::Failure;
use callcell_runtime::parse_json;
use serde_json::Value;
use thiserror::Error;

/// Characters of a rationale that are kept. It is a sentence; a model may write a book.
pub const MAX_RATIONALE: usize = 4_000;

/// A judge's verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// From 0 to 1.
    pub score: Score,
    /// Why. A model's text about a model's text: data, never to be trusted.
    pub rationale: String,
}

/// A reply without a score. It may be asked for once more (D-69); it never counts as one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyInvalid {
    /// It is not one JSON object.
    #[error("the judge's reply is not one JSON object")]
    NotJson,
    /// There is no `score`.
    #[error("the judge's reply has no score")]
    NoScore,
    /// `score` is no number, nor text that is exactly one.
    #[error("the judge's score is not a number")]
    NotANumber,
    /// It is below 0 or above 1.
    #[error("the judge's score is not between 0 and 1")]
    OutOfRange,
}

impl ReplyInvalid {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "E_JUDGE_REPLY_INVALID"
    }
}

impl From<ReplyInvalid> for Failure {
    fn from(invalid: ReplyInvalid) -> Self {
        Self { code: invalid.code().into(), message: invalid.to_string(), path: None }
    }
}

/// Reads a reply. One that is wrapped in a Markdown fence as a whole is taken out of it, since some services add one; everything else
/// around the object makes it invalid.
///
/// # Errors
/// When there is no score in it, or none from 0 to 1.
pub fn read(reply: &str) -> Result<Judgement, ReplyInvalid> {
    let Ok(Value::Object(mut members)) = parse_json(unfenced(reply.trim()).as_bytes()) else {
        return Err(ReplyInvalid::NotJson);
    };
    let score = match members.get("score") {
        None | Some(Value::Null) => return Err(ReplyInvalid::NoScore),
        Some(Value::Number(number)) => number.as_f64(),
        // D-68: platforms give scores as text.
        Some(Value::String(text)) if is_decimal(text) => text.parse().ok(),
        Some(_) => None,
    };
    let score = score.filter(|score: &f64| score.is_finite()).ok_or(ReplyInvalid::NotANumber)?;
    let score = Score::new(score).map_err(|_| ReplyInvalid::OutOfRange)?;
    let rationale = match members.remove("rationale") {
        Some(Value::String(text)) => text.chars().take(MAX_RATIONALE).collect(),
        _ => String::new(),
    };
    Ok(Judgement { score, rationale })
}

/// What stands between the two lines of a Markdown fence that holds the whole text.
fn unfenced(text: &str) -> &str {
    let inner = || {
        let (tag, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let inner = rest.strip_suffix("```")?;
        matches!(tag.trim(), "" | "json").then_some(inner)
    };
    inner().unwrap_or(text)
}

/// `0.5`, `1`, `-3`: digits, and one point between some.
fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    match text.split_once('.') {
        None => digits(text),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(reply: &str) -> Result<f64, ReplyInvalid> {
        read(reply).map(|judgement| judgement.score.get())
    }

    // 5.3, D-67, D-68
    #[test]
    fn a_score_is_a_number_or_exactly_one_as_text() {
        assert_eq!(score(r#"{"rationale":"Fine.","score":0.5}"#), Ok(0.5));
        assert_eq!(score("\n {\"score\":1}\n"), Ok(1.0));
        assert_eq!(score(r#"{"score":0}"#), Ok(0.0));
        assert_eq!(score(r#"{"score":"0.75"}"#), Ok(0.75));
        assert_eq!(score("```json\n{\"score\":0.25}\n```"), Ok(0.25));
        assert_eq!(score("```\n{\"score\":0.25}\n```"), Ok(0.25));
    }

    // 5.3: never clamp, never default, never pick a number out of prose
    #[test]
    fn anything_else_is_no_score() {
        use ReplyInvalid::{NoScore, NotANumber, NotJson, OutOfRange};
        for (reply, error) in [
            ("", NotJson),
            ("0.9", NotJson),
            ("[1]", NotJson),
            ("The score is 0.9.", NotJson),
            ("Here it is: {\"score\":0.9}", NotJson),
            ("{\"score\":0.9} That is all.", NotJson),
            ("{\"score\":0.9}{\"score\":0.1}", NotJson),
            ("```json\n{\"score\":0.9}\n``` I hope that helps.", NotJson),
            ("```python\n{\"score\":0.9}\n```", NotJson),
            ("{\"score\":NaN}", NotJson),
            ("{\"score\":1e999}", NotJson),
            ("{}", NoScore),
            ("{\"Score\":1}", NoScore),
            ("{\"score\":null}", NoScore),
            ("{\"score\":true}", NotANumber),
            ("{\"score\":[1]}", NotANumber),
            ("{\"score\":\"high\"}", NotANumber),
            ("{\"score\":\"0.9/1\"}", NotANumber),
            ("{\"score\":\" 0.9\"}", NotANumber),
            ("{\"score\":\"1e-1\"}", NotANumber),
            ("{\"score\":\"NaN\"}", NotANumber),
            ("{\"score\":\".5\"}", NotANumber),
            ("{\"score\":1.0000000001}", OutOfRange),
            ("{\"score\":-0.1}", OutOfRange),
            ("{\"score\":85}", OutOfRange),
            ("{\"score\":\"-1\"}", OutOfRange),
        ] {
            assert_eq!(score(reply), Err(error), "{reply}");
        }
        assert_eq!(score(&"[".repeat(1_000_000)), Err(NotJson));
    }

    #[test]
    fn a_rationale_is_cut_and_may_be_missing() {
        let long = format!(r#"{{"score":1,"rationale":"{}"}}"#, "ü".repeat(1_000_000));
        assert_eq!(read(&long).unwrap().rationale.chars().count(), MAX_RATIONALE);
        assert_eq!(read(r#"{"score":1,"rationale":5}"#).unwrap().rationale, "");
    }
}
