//! The number an evaluator gives (spec 3.2, EV-106).

use serde::{Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

/// A finite number from 0 to 1, both included.
///
/// Nothing is rounded or clamped: 1.0000000001 is no score (spec 3.2). `-0` is taken, as 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

/// What an evaluator gave is not a finite number from 0 to 1.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the score is not a finite number from 0 to 1")]
pub struct ScoreInvalid;

impl ScoreInvalid {
    /// The stable code, the same as of `CallErrorKind::ScoreInvalid` in the runtime.
    pub fn code(&self) -> &'static str {
        "E_SCORE_INVALID"
    }
}

impl Score {
    /// The worst score.
    pub const ZERO: Self = Self(0.0);
    /// The best score.
    pub const ONE: Self = Self(1.0);

    /// Takes `number` if it is a score.
    ///
    /// # Errors
    /// When it is NaN, infinite, below 0 or above 1.
    pub fn new(number: f64) -> Result<Self, ScoreInvalid> {
        // Adding 0 turns -0 into 0. NaN is in no range.
        if (0.0..=1.0).contains(&number) { Ok(Self(number + 0.0)) } else { Err(ScoreInvalid) }
    }

    /// Takes a JSON number if it is a score. Booleans and numeric strings are none (spec 3.2).
    ///
    /// # Errors
    /// When `value` is not a number, or not from 0 to 1.
    pub fn from_json(value: &Value) -> Result<Self, ScoreInvalid> {
        value.as_f64().ok_or(ScoreInvalid).and_then(Self::new)
    }

    /// The number, from 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = ScoreInvalid;

    fn try_from(number: f64) -> Result<Self, ScoreInvalid> {
        Self::new(number)
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Spec 3.2, EV-106.
    #[test]
    fn only_finite_numbers_from_0_to_1_are_scores() {
        for number in [0.0, 1.0, 0.5, f64::MIN_POSITIVE, 5e-324, 1.0 - f64::EPSILON] {
            assert_eq!(Score::new(number).map(Score::get), Ok(number));
        }
        for number in [1.000_000_000_1, 1.0 + f64::EPSILON, -5e-324, -1.0, 2.0, f64::NAN, f64::INFINITY, -f64::INFINITY]
        {
            assert_eq!(Score::new(number), Err(ScoreInvalid), "{number}");
        }
        assert_eq!(ScoreInvalid.code(), "E_SCORE_INVALID");
    }

    #[test]
    fn minus_zero_is_zero() {
        assert!(Score::new(-0.0).is_ok_and(|score| score.get().is_sign_positive()));
    }

    #[test]
    fn json_that_is_no_number_is_no_score() {
        assert_eq!(Score::from_json(&json!(1)), Ok(Score::ONE));
        assert_eq!(Score::from_json(&json!(0.25)).map(Score::get), Ok(0.25));
        for value in [json!(true), json!(false), json!("1"), json!(null), json!([1]), json!({}), json!(2), json!(-1)] {
            assert_eq!(Score::from_json(&value), Err(ScoreInvalid), "{value}");
        }
    }
}
