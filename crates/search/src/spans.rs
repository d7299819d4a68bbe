//! Bounds as they are typed: `>10kb`, `5xx`, `1s..5s`.

use crate::{Span, fault::Fault, fault::shown};

/// A kind of number with its units.
pub(crate) struct Scale {
    /// What to say of a text that is no such number, with examples.
    wrong: &'static str,
    units: &'static [(&'static str, u64)],
    /// Whether `5xx` stands for a hundred numbers.
    hundreds: bool,
}

/// Sizes, in bytes.
pub(crate) const SIZE: Scale = Scale {
    wrong: "is no size. Write it like >10kb, 512 or 1kb..2mb.",
    units: &[
        ("", 1),
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
    ],
    hundreds: false,
};

/// The statuses of answers.
pub(crate) const RESPONSE: Scale = Scale {
    wrong: "is no status of an answer. Write it like 500, 5xx, >=400 or 500..503.",
    units: &[("", 1)],
    hundreds: true,
};

/// How long something took, in microseconds.
pub(crate) const LATENCY: Scale = Scale {
    wrong: "is no length of time. Write it like >1s, <=250ms or 1s..5s.",
    units: &[
        ("us", 1),
        ("µs", 1),
        ("ms", 1_000),
        ("s", 1_000_000),
        ("m", 60_000_000),
        ("h", 3_600_000_000),
        ("d", 86_400_000_000),
    ],
    hundreds: false,
};

/// Numbers of events, without their `#`.
const NUMBER: Scale = Scale { wrong: "", units: &[("", 1)], hundreds: false };

/// Reads `#12`, `#12..#40` or `#12..40`. `None` if the text is no such thing.
pub(crate) fn numbers(text: &str) -> Option<Result<Span, Fault>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let first = NUMBER.number(first.strip_prefix('#')?)?;
    let last = NUMBER.number(last.strip_prefix('#').unwrap_or(last))?;
    Some(forwards(text, first.min, last.max))
}

impl Scale {
    /// Reads bounds.
    pub(crate) fn read(&self, text: &str) -> Result<Span, Fault> {
        let wrong = || Fault::new(format!("{} {}", shown(text), self.wrong));
        let number = |typed: &str| self.number(typed).ok_or_else(wrong);
        if let Some(typed) = text.strip_prefix(">=") {
            return Ok(Span { min: number(typed)?.min, max: u64::MAX });
        }
        if let Some(typed) = text.strip_prefix("<=") {
            return Ok(Span { min: 0, max: number(typed)?.max });
        }
        let none = || Fault::new(format!("Nothing is {}.", shown(text)));
        if let Some(typed) = text.strip_prefix('>') {
            return Ok(Span { min: number(typed)?.max.checked_add(1).ok_or_else(none)?, max: u64::MAX });
        }
        if let Some(typed) = text.strip_prefix('<') {
            return Ok(Span { min: 0, max: number(typed)?.min.checked_sub(1).ok_or_else(none)? });
        }
        match text.split_once("..") {
            Some((first, last)) => forwards(text, number(first)?.min, number(last)?.max),
            None => number(text),
        }
    }

    /// Writes bounds so that [`read`](Self::read) reads the same ones.
    pub(crate) fn write(&self, span: Span) -> String {
        match span {
            Span { min, max } if min == max => self.write_number(min),
            Span { min, max: u64::MAX } => format!(">={}", self.write_number(min)),
            Span { min: 0, max } => format!("<={}", self.write_number(max)),
            Span { min, max } => format!("{}..{}", self.write_number(min), self.write_number(max)),
        }
    }

    /// Reads a number with its unit. Digits after a point are those of the unit.
    fn number(&self, text: &str) -> Option<Span> {
        let is_hundreds =
            |text: &str| text.len() == 3 && text.is_ascii() && text[1..].eq_ignore_ascii_case("xx");
        if self.hundreds && is_hundreds(text) {
            let hundred = text[..1].parse::<u64>().ok()? * 100;
            return Some(Span { min: hundred, max: hundred + 99 });
        }
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let (_, unit) = self.units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let fraction = fraction.get(..9).unwrap_or(fraction);
        let parts = u128::from(fraction.parse::<u64>().ok()?) * u128::from(*unit);
        let parts = u64::try_from(parts / 10_u128.pow(u32::try_from(fraction.len()).ok()?)).ok()?;
        let value = whole.parse::<u64>().ok()?.checked_mul(*unit)?.checked_add(parts)?;
        Some(Span { min: value, max: value })
    }

    fn write_number(&self, number: u64) -> String {
        let whole = self.units.iter().filter(|(_, unit)| unit.is_power_of_two() == (*unit == 1));
        let fits = whole.filter(|(_, unit)| number.is_multiple_of(*unit) && (number > 0 || *unit == 1));
        let (name, unit) = fits.max_by_key(|(_, unit)| unit).unwrap_or(&("", 1));
        let name = if *name == "µs" { "us" } else { name };
        let name = if *name == *"b" { "" } else { name };
        format!("{}{name}", number / unit)
    }
}

fn forwards(text: &str, min: u64, max: u64) -> Result<Span, Fault> {
    let backwards = || Fault::new(format!("{} runs backwards. Write the smaller number first.", shown(text)));
    if min <= max { Ok(Span { min, max }) } else { Err(backwards()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_written_again() {
        for (scale, text, min, max, written) in [
            (&SIZE, ">10kb", 10_001, u64::MAX, ">=10001"),
            (&SIZE, ">=10KB", 10_000, u64::MAX, ">=10kb"),
            (&SIZE, "<1.5mb", 0, 1_499_999, "<=1499999"),
            (&SIZE, "1kib..2kib", 1_024, 2_048, "1024..2048"),
            (&SIZE, "0", 0, 0, "0"),
            (&RESPONSE, "5xx", 500, 599, "500..599"),
            (&RESPONSE, ">4xx", 500, u64::MAX, ">=500"),
            (&RESPONSE, "200..3XX", 200, 399, "200..399"),
            (&LATENCY, ">1s", 1_000_001, u64::MAX, ">=1000001us"),
            (&LATENCY, "<=0.25s", 0, 250_000, "<=250ms"),
            (&LATENCY, "0us", 0, 0, "0us"),
        ] {
            let span = scale.read(text).unwrap();
            assert_eq!(span, Span { min, max }, "{text}");
            assert_eq!(scale.write(span), written, "{text}");
            assert_eq!(scale.read(written), Ok(span), "{written}");
        }
    }

    #[test]
    fn what_is_no_bound_is_refused() {
        for (scale, text) in [
            (&SIZE, "10 kb"),
            (&SIZE, "-5"),
            (&SIZE, "1."),
            (&SIZE, "99999999999999999999"),
            (&SIZE, "<0"),
            (&SIZE, "5..1"),
            (&RESPONSE, "xxx"),
            (&RESPONSE, "ä0x"),
            (&LATENCY, "5"),
            (&LATENCY, ">99999999999999d"),
        ] {
            assert!(scale.read(text).is_err(), "{text}");
        }
    }
}
