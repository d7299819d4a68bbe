//! Makes a sample's body another event's: its ids, names, addresses, amounts, times and texts become fresh ones of the
//! same form. Words that mean something to a program (`paid`, `invoice`) stay.

use hookmitt_event::Timestamp;
use serde_json::{Number, Value};

use super::random::Random;

/// Renews everything in a JSON value. `key` is the name under which it stands.
pub(super) fn renew(value: &mut Value, key: &str, random: &mut Random) {
    match value {
        Value::Object(members) => members.iter_mut().for_each(|(key, value)| renew(value, key, random)),
        Value::Array(items) => items.iter_mut().for_each(|item| renew(item, key, random)),
        Value::Number(number) => {
            if let Some(fresh) = number.as_i64().map(|number| renewed_number(number, random)) {
                *number = Number::from(fresh);
            }
        }
        Value::String(text) => *text = renewed_text(text, key, random),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Renews a form: what its fields say, and the ids in it. What is escaped stays.
pub(super) fn renew_form(form: &str, random: &mut Random) -> String {
    let fields = form.trim_end().split('&').map(|field| match field.split_once('=') {
        Some((name @ ("Body" | "text"), _)) => {
            let length = 20 + random.below(200);
            let text = random.text(length);
            format!("{name}={}", text.split(' ').map(escaped).collect::<Vec<_>>().join("+"))
        }
        Some((name, value)) if !value.contains('%') => {
            format!("{name}={}", renewed_text(value, "", random))
        }
        _ => field.to_owned(),
    });
    fields.collect::<Vec<_>>().join("&")
}

fn escaped(word: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    word.bytes().map(letter).collect()
}

fn renewed_number(number: i64, random: &mut Random) -> i64 {
    let ago = |random: &mut Random| random.within(0..600);
    match number {
        ..100 => number,
        1_500_000_000..2_200_000_000 => random.now.as_seconds() - ago(random),
        1_500_000_000_000..2_200_000_000_000 => random.now.as_micros() / 1_000 - 1_000 * ago(random),
        _ => {
            let least = 10_i64.pow(number.ilog10());
            random.within(least..least.saturating_mul(10))
        }
    }
}

fn renewed_text(text: &str, key: &str, random: &mut Random) -> String {
    if let Some(length) = text.find("://").map(|start| start + "://".len()) {
        let host = text[length..].split('/').next().unwrap_or_default();
        return format!("{}{host}/{}/{}", &text[..length], random.project(), random.token(22));
    }
    if text.contains('@') && text.contains('.') && !text.contains(' ') {
        return random.email();
    }
    if text.len() >= 20 && text.parse::<Timestamp>().is_ok() {
        let ago = random.within(0..600 * 1_000_000);
        return Timestamp::from_micros(random.now.as_micros() - ago).to_string();
    }
    match key {
        "full_name" | "path_with_namespace" => return format!("hookmitt-demo/{}", random.project()),
        "login" | "username" | "handle" => return random.project(),
        _ if key == "name" || key.ends_with("_name") => return random.person(),
        _ => {}
    }
    if text.contains(' ') {
        let length = text.len() + random.below(text.len());
        return random.text(length);
    }
    if is_id(text) { renewed_id(text, random) } else { text.to_owned() }
}

/// Whether a text has digits and is long enough to be somebody's own. A date such as `2026-09-30` isn't.
fn is_id(text: &str) -> bool {
    let is_date = text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.len() >= 5 && !is_date && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The kinds of objects that come again and again.
const OBJECTS: [&str; 6] = ["cus_", "ctm_", "in_", "pi_", "sub_", "user_"];

/// Returns an id of the same form. What stands before the last `_` is its kind, such as `evt_`. Letters of hexadecimal
/// numbers stay hexadecimal.
fn renewed_id(text: &str, random: &mut Random) -> String {
    let (kind, own) = text.split_at(text.rfind('_').map_or(0, |place| place + 1));
    if OBJECTS.contains(&kind) {
        return format!("{kind}{}", random.object());
    }
    let is_hex = own.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f' | '-'));
    let fresh = own.chars().map(|letter| match letter {
        'a'..='f' if is_hex => random.hex(1).remove(0),
        _ => random.like(letter),
    });
    format!("{kind}{}", fresh.collect::<String>())
}
