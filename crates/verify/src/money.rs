//! Amounts in minor units, as payment providers send them.

/// Currencies without minor units (ISO 4217, exponent 0, as Stripe lists them).
const WHOLE: [&str; 15] =
    ["bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"];

/// Formats an amount: `1999` and `usd` become `19.99 USD`. Returns `None` if either isn't valid.
pub(crate) fn in_words(minor: &str, currency: &str) -> Option<String> {
    let amount: i64 = minor.parse().ok()?;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let lower = currency.to_ascii_lowercase();
    let shown = if WHOLE.contains(&lower.as_str()) {
        amount.to_string()
    } else {
        let sign = if amount < 0 { "-" } else { "" };
        let size = amount.unsigned_abs();
        format!("{sign}{}.{:02}", size / 100, size % 100)
    };
    Some(format!("{shown} {}", currency.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_are_spelt_out() {
        let table = [
            ("1999", "usd", Some("19.99 USD")),
            ("-5", "eur", Some("-0.05 EUR")),
            ("500", "jpy", Some("500 JPY")),
            ("x", "usd", None),
            ("1", "dollars", None),
        ];
        for (minor, currency, expected) in table {
            assert_eq!(in_words(minor, currency).as_deref(), expected);
        }
    }
}
