//! Writes amounts of money: `€1,240.00`, `CHF 1,240.00`, `¥5,000`.

use std::collections::BTreeMap;

/// The symbols of common currencies, as Unicode's CLDR has them for English, and some that stand for one currency alone.
/// All other currencies are written with their code.
const SYMBOLS: [(&str, &str); 23] = [
    ("AUD", "A$"),
    ("BRL", "R$"),
    ("CAD", "CA$"),
    ("CNY", "CN¥"),
    ("CRC", "₡"),
    ("EUR", "€"),
    ("GBP", "£"),
    ("GEL", "₾"),
    ("HKD", "HK$"),
    ("ILS", "₪"),
    ("INR", "₹"),
    ("JPY", "¥"),
    ("KRW", "₩"),
    ("KZT", "₸"),
    ("MXN", "MX$"),
    ("NGN", "₦"),
    ("NZD", "NZ$"),
    ("PHP", "₱"),
    ("TRY", "₺"),
    ("TWD", "NT$"),
    ("UAH", "₴"),
    ("USD", "$"),
    ("VND", "₫"),
];

/// The currencies whose minor unit isn't a hundredth (ISO 4217, list one), by the number of decimals.
const DECIMALS: [(usize, &[&str]); 3] = [
    (
        0,
        &[
            "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
            "XAF", "XOF", "XPF",
        ],
    ),
    (3, &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]),
    (4, &["CLF", "UYW"]),
];

/// How many decimals a provider uses for currencies where it differs from ISO 4217.
pub(crate) type Decimals = BTreeMap<String, usize>;

/// How many digits an amount may have before the point. Longer ones are no money.
const WIDEST: usize = 15;
/// How many digits after the point are written at most. Cryptocurrencies have eight.
const FINEST: usize = 8;

/// Writes an amount in minor units, such as cents. Returns `None` if the amount or the currency isn't valid.
pub(crate) fn from_minor(amount: &str, currency: &str, own: &Decimals) -> Option<String> {
    let code = code(currency)?;
    let amount = Amount::parse(amount).filter(|amount| amount.fraction.is_empty())?;
    let decimals = own.get(&code).copied().unwrap_or_else(|| decimals(&code)).min(FINEST);
    let digits = format!("{:0>1$}", amount.whole, decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    Some(written(&code, amount.is_negative, whole, fraction))
}

/// Writes an amount in major units, such as `59.8` euros. Returns `None` if the amount or the currency isn't valid.
pub(crate) fn from_major(amount: &str, currency: &str) -> Option<String> {
    let code = code(currency)?;
    let amount = Amount::parse(amount)?;
    let finest = amount.fraction.get(..FINEST).unwrap_or(amount.fraction);
    let fraction = format!("{finest:0<0$}", decimals(&code));
    Some(written(&code, amount.is_negative, amount.whole, &fraction))
}

/// A decimal number. Digits that change nothing are left out: zeros in front and at the end.
struct Amount<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
}

impl<'t> Amount<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_negative = text.starts_with('-') && !(whole.is_empty() && fraction.is_empty());
        (whole.len() <= WIDEST).then_some(Self { is_negative, whole, fraction })
    }
}

/// Returns a currency's code in capitals. Codes of three letters are ISO's; longer ones are tokens such as `USDC`.
fn code(currency: &str) -> Option<String> {
    let fits = (3..=5).contains(&currency.len()) && currency.bytes().all(|byte| byte.is_ascii_alphabetic());
    fits.then(|| currency.to_ascii_uppercase())
}

fn decimals(code: &str) -> usize {
    let row = DECIMALS.iter().find(|(_, codes)| codes.contains(&code));
    row.map_or(2, |(decimals, _)| *decimals)
}

fn written(code: &str, is_negative: bool, whole: &str, fraction: &str) -> String {
    let sign = if is_negative { "-" } else { "" };
    let known = SYMBOLS.iter().find(|(known, _)| *known == code);
    let currency = known.map_or_else(|| format!("{code} "), |(_, symbol)| (*symbol).to_owned());
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{currency}{}{point}{fraction}", grouped(whole))
}

/// Returns the digits with a comma before each three; `0` if there are none.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if out.is_empty() { "0".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_are_written_with_the_currency() {
        let own = Decimals::from([("ISK".to_owned(), 2)]);
        let table = [
            ("124000", "eur", Some("€1,240.00")),
            ("124000", "CHF", Some("CHF 1,240.00")),
            ("5", "usd", Some("$0.05")),
            ("0", "usd", Some("$0.00")),
            ("-0", "usd", Some("$0.00")),
            ("-620", "gbp", Some("-£6.20")),
            ("5000", "jpy", Some("¥5,000")),
            ("0", "jpy", Some("¥0")),
            ("1234567", "kwd", Some("KWD 1,234.567")),
            ("50000", "isk", Some("ISK 500.00")),
            ("1999.0", "inr", Some("₹19.99")),
            ("100000000000000", "usd", Some("$1,000,000,000,000.00")),
            ("1999.5", "usd", None),
            ("1234567890123456", "usd", None),
            ("1e5", "usd", None),
            ("NaN", "usd", None),
            ("-", "usd", None),
            ("", "usd", None),
            ("1", "dollars", None),
            ("1", "€", None),
        ];
        for (amount, currency, expected) in table {
            assert_eq!(from_minor(amount, currency, &own).as_deref(), expected, "{amount} {currency}");
        }
    }

    #[test]
    fn major_units_are_written_with_the_currency() {
        let table = [
            ("59.8", "EUR", Some("€59.80")),
            ("1240", "EUR", Some("€1,240.00")),
            ("1240.00", "SEK", Some("SEK 1,240.00")),
            ("-29.90", "EUR", Some("-€29.90")),
            ("5000.00", "JPY", Some("¥5,000")),
            ("5.125", "KWD", Some("KWD 5.125")),
            ("0.018300000", "ETH", Some("ETH 0.0183")),
            ("12.5", "USDC", Some("USDC 12.50")),
            ("0.1234567890123", "BTC", Some("BTC 0.12345678")),
            (".5", "EUR", None),
            ("1,240.00", "EUR", None),
            ("12 EUR", "EUR", None),
        ];
        for (amount, currency, expected) in table {
            assert_eq!(from_major(amount, currency).as_deref(), expected, "{amount} {currency}");
        }
    }
}
