//! Decimal numbers of any length, compared exactly.

use std::cmp::Ordering;

/// A decimal number as it was written: `-12.50`, `9007199254740993`, `1e3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

/// A number other than zero is `0.digits × 10^point`, where the digits neither begin nor end with a zero.
struct Parts {
    negative: bool,
    digits: String,
    point: i64,
}

impl Number {
    /// Reads a number as JSON writes it. Leading zeros are allowed. Returns `None` for any other text.
    pub fn new(text: &str) -> Option<Self> {
        let number = text.strip_prefix('-').unwrap_or(text);
        let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        [whole, fraction, exponent].into_iter().all(is_digits).then(|| Self(text.to_owned()))
    }

    /// Returns the number as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares two numbers by their values.
    pub fn compare(&self, other: &Self) -> Ordering {
        let (one, other) = (self.parts(), other.parts());
        let sign = |parts: &Parts| match (parts.digits.is_empty(), parts.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let sizes = (one.point, &one.digits).cmp(&(other.point, &other.digits));
        signum(&one).cmp(&signum(&other)).then(if one.negative { sizes.reverse() } else { sizes })
    }

    fn parts(&self) -> Parts {
        let (negative, number) =
            self.0.strip_prefix('-').map_or((false, self.0.as_str()), |rest| (true, rest));
        let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, fraction].concat();
        let significant = digits.trim_start_matches('0');
        let zeros = (digits.len() - significant.len()).cast_signed() as i64;
        let beyond = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
        let exponent: i64 = exponent.parse().unwrap_or(beyond).clamp(i64::MIN / 2, i64::MAX / 2);
        let significant = significant.trim_end_matches('0').to_owned();
        let point =
            if significant.is_empty() { 0 } else { whole.len().cast_signed() as i64 - zeros + exponent };
        Parts { negative: negative && !significant.is_empty(), digits: significant, point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value_to_the_last_digit() {
        use Ordering::{Equal, Greater, Less};
        for (one, other, expected) in [
            ("9007199254740993", "9007199254740992", Greater),
            ("10", "10.0", Equal),
            ("1e1", "10", Equal),
            ("-0", "0.00", Equal),
            ("-2", "-1", Less),
            ("-1", "1", Less),
            ("0.1", "0.09999999999999999999", Greater),
            ("1e999999999999999999999", "5", Greater),
            ("1e-999999999999999999999", "0", Greater),
            ("007", "7", Equal),
            ("12", "123", Less),
        ] {
            let number = |text| Number::new(text).unwrap();
            assert_eq!(number(one).compare(&number(other)), expected, "{one} {other}");
            assert_eq!(number(other).compare(&number(one)), expected.reverse(), "{other} {one}");
        }
        for text in ["", "-", "1.", ".5", "1e", "+1", "0x1", "1_000", "NaN", "١"] {
            assert_eq!(Number::new(text), None, "{text}");
        }
    }
}
