//! Bodies that an SDK accepts, and edits of them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::Timestamp;
use hookmitt_verify::{Provider, sample, sample_types};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::rows::{Bodies, Row};

/// A small random generator (xorshift64*). The seed is printed, so that a failing run can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % sides
    }

    fn json(&mut self) -> String {
        let space = ["", " ", "\n  ", "\t"][self.roll(4)];
        let mut members = vec!["\"type\":\"storageUpdated\"".to_owned(), "\"data\":{}".to_owned()];
        for at in 0..self.roll(6) {
            let value = match self.roll(4) {
                0 => ["12345678901234567890", "1.10", "-0.0", "1e3"][self.roll(4)].to_owned(),
                1 => format!("\"{}\"", ["Zoë", "東京 🚀", "\\u00eb\\/", "<&>", "a  b"][self.roll(5)]),
                2 => ["true", "null", "[]", "[1, 2 ,3]"][self.roll(4)].to_owned(),
                _ => format!("\"{}\"", "x".repeat(self.roll(3000))),
            };
            members.push(format!("\"k{at}\":{space}{value}"));
        }
        let end = ["", "\n", "\r\n"][self.roll(3)];
        format!("{{{space}{}{space}}}{end}", members.join(&format!(",{space}")))
    }

    fn form(&mut self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for at in 0..1 + self.roll(8) {
            let value = ["", "Zoë Ångström", "a+b & c=d", "東京 🚀", "https://example.com/?x=%20", "  "]
                [self.roll(6)];
            form.append_pair(["Body", "From", "to", "_", "Ünique", &format!("k{at}")][self.roll(6)], value);
        }
        form.finish()
    }
}

/// Returns random bodies: JSON with spaces, characters of many scripts and odd numbers, texts that aren't JSON, an
/// empty body, and bytes that aren't text. Only those that the SDK can be asked about are included.
pub(crate) fn made_up(row: &Row, dice: &mut Dice) -> Vec<Vec<u8>> {
    let jsons: Vec<Vec<u8>> = (0..6).map(|_| dice.json().into_bytes()).collect();
    let texts =
        [&b"hello, world "[..], "payload=%7B%7D&x=ä+b".as_bytes(), b"{\"a\":1}\r\n"].map(<[u8]>::to_vec);
    let bytes = vec![0, 0xff, 0xfe, b'\r', b'\n', 0x80];
    match row.bodies {
        Bodies::Samples | Bodies::Canonical => Vec::new(),
        Bodies::Json => jsons,
        Bodies::NotEmpty => jsons.into_iter().chain(texts).collect(),
        Bodies::Text => jsons.into_iter().chain(texts).chain([Vec::new()]).collect(),
        Bodies::Bytes => jsons.into_iter().chain(texts).chain([Vec::new(), bytes]).collect(),
        Bodies::Forms => (0..8).map(|_| dice.form().into_bytes()).collect(),
    }
}

/// Returns the bodies of the provider's samples that are sent with the row's scheme.
pub(crate) fn samples(row: &Row, provider: &'static Provider) -> Vec<Vec<u8>> {
    // sns-validator doesn't know that the token of this type is signed too.
    let sent = |kind: &&str| (row.id, *kind) != ("aws_sns", "UnsubscribeConfirmation");
    let made = sample_types(provider).into_iter().filter(sent).map(|kind| {
        let made = sample(provider, Some(kind), "0197-sample", Timestamp::now());
        made.unwrap_or_else(|error| panic!("{} {kind}: {error}", row.id))
    });
    let bodies = made.filter(|request| request.method == "POST").map(|request| request.body.to_vec());
    match row.bodies {
        Bodies::Canonical => bodies.map(|body| written_anew(&body)).collect(),
        Bodies::Json => bodies.filter(|body| serde_json::from_slice::<Value>(body).is_ok()).collect(),
        Bodies::Forms => bodies.filter(|body| !body.starts_with(b"{") && !body.starts_with(b"[")).collect(),
        _ => bodies.collect(),
    }
}

fn written_anew(body: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Value>(body).unwrap().to_string().into_bytes()
}

/// Edits the body so that its signed content changes, but it remains a body of this provider.
pub(crate) fn edited(row: &Row, body: &[u8]) -> Vec<u8> {
    if row.id == "braintree" {
        return edited_braintree(body);
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(body) else {
        return [body, &b"&Edited=Zo%C3%AB+x"[..]].concat();
    };
    let (pointer, value) = match (row.id, row.scheme) {
        ("adyen", None) => ("/notificationItems/0/NotificationRequestItem/merchantReference", json!("Zoë:1")),
        ("aws_sns", _) => ("/Message", json!("Zoë & <b>\n")),
        _ => ("", json!("Zoë & <b>")),
    };
    match json.pointer_mut(pointer).expect("a sample has it") {
        Value::Object(members) => drop(members.insert("edited".to_owned(), value)),
        Value::Array(items) => items.push(json!({ "edited": value })),
        other => *other = value,
    }
    json.to_string().into_bytes()
}

/// Adds a comment to the XML in the payload.
fn edited_braintree(body: &[u8]) -> Vec<u8> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form_urlencoded::parse(body) {
        if name == "bt_payload" {
            let base64: String = value.split_whitespace().collect();
            let xml = [STANDARD.decode(base64).unwrap(), b"<!-- edited -->".to_vec()].concat();
            form.append_pair(&name, &format!("{}\n", STANDARD.encode(xml)));
        } else {
            form.append_pair(&name, &value);
        }
    }
    form.finish().into_bytes()
}
