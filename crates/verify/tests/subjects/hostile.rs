//! Whatever a sender writes into an event, its subject is one short line without control or bidi characters.

use hookmitt_event::{GenericScheme, HeaderLines, HttpVersion, Request};
use hookmitt_verify::{facts, providers, sample, sample_types};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::AT;

/// Values that a sender may put where another value is expected.
fn hostile() -> impl Strategy<Value = Value> {
    let words = "[<>@#!|&;:/{}\"0-9a-zA-Z \u{0}\u{7}\u{1b}\n\r\t\u{85}\u{a0}\u{200b}\u{200d}\u{202e}\u{2028}\u{2066}\u{feff}é🍅]{0,300}";
    prop_oneof![
        words.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[-+]?[0-9]{0,400}[.]?[0-9]{0,40}".prop_map(Value::from),
        prop_oneof![
            Just("NaN"),
            Just("-inf"),
            Just("1e999"),
            Just("-0"),
            Just("eur"),
            Just("JPY"),
            Just("€")
        ]
        .prop_map(Value::from),
        Just(Value::Null),
        Just(json!({ "a": { "b": ["\u{202e}"] } })),
        Just(json!([[], {}, "x"])),
    ]
}

/// Replaces every second value or so inside a JSON text.
fn spoil(value: &mut Value, with: &mut impl Iterator<Item = Option<Value>>) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| spoil(field, with)),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, with)),
        _ => {
            if let Some(new) = with.next().flatten() {
                *value = new;
            }
        }
    }
}

fn is_fit(subject: &str) -> bool {
    let is_seen = |letter: char| {
        !letter.is_control()
            && !matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            && !matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    (1..=120).contains(&subject.chars().count()) && subject.chars().all(is_seen)
}

proptest! {
    #[test]
    fn every_subject_is_one_short_line(
        which in any::<prop::sample::Index>(),
        kind in any::<prop::sample::Index>(),
        values in prop::collection::vec(prop::option::of(hostile()), 1..40),
    ) {
        let known: Vec<_> = providers().collect();
        let provider = *which.get(&known);
        let types = sample_types(provider);
        let made = sample(provider, Some(types[kind.index(types.len())]), "0197abc-1", AT).unwrap();
        let Ok(mut body) = serde_json::from_slice::<Value>(&made.body) else { return Ok(()) };
        spoil(&mut body, &mut values.into_iter().cycle());
        let request = Request { body: body.to_string().into(), ..made };
        let subject = facts(&request, Some(provider), None).title;
        prop_assert!(subject.as_deref().is_none_or(is_fit), "{}: {subject:?}", provider.id);
    }

    #[test]
    fn a_form_s_and_a_chosen_place_s_text_is_one_short_line(text in any::<String>(), value in hostile()) {
        let form: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("command", &text).append_pair("text", &text).append_pair("user_name", &text).finish();
        let request = |kind: &str, body: String| Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs([("Content-Type", kind)]).unwrap(),
            body: body.into(),
        };
        let slack = hookmitt_verify::provider("slack");
        let subject = facts(&request("application/x-www-form-urlencoded", form), slack, None).title;
        prop_assert!(subject.as_deref().is_none_or(is_fit), "{subject:?}");
        let generic = GenericScheme { title_at: Some("/what".to_owned()), ..GenericScheme::default() };
        let body = json!({ "what": value }).to_string();
        let subject = facts(&request("application/json", body), None, Some(&generic)).title;
        prop_assert!(subject.as_deref().is_none_or(is_fit), "{subject:?}");
    }
}
