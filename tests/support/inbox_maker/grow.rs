//! Grows a JSON body as real ones grow: by more members of a list, by a long text, or by an attachment.

use hookmitt_event::Timestamp;
use serde_json::{Value, json};

use super::{fresh::renew, random::Random};

/// Adds to a body until it has about this many bytes more.
pub(super) fn grow(body: &mut Value, bytes: usize, random: &mut Random) {
    match random.below(10) {
        0..2 => add(body, "description", |random| random.text(bytes), random),
        2 if bytes.is_multiple_of(2) => {
            add(body, "attachment_base64", |random| random.base64(bytes * 3 / 4), random)
        }
        _ => lengthen(body, bytes, random),
    }
}

fn add(body: &mut Value, key: &str, text: impl FnOnce(&mut Random) -> String, random: &mut Random) {
    let text = text(random);
    match body {
        Value::Object(members) => {
            members.insert(key.to_owned(), Value::from(text));
        }
        Value::Array(items) => items.push(json!({ key: text })),
        _ => {}
    }
}

/// Adds members to the longest list of objects. A body without one gets a history.
fn lengthen(body: &mut Value, mut bytes: usize, random: &mut Random) {
    let place = longest_list(body, "").map(|(place, _)| place);
    let place = place.unwrap_or_else(|| {
        if let Value::Object(members) = body {
            members.insert(
                "history".to_owned(),
                json!([{ "id": "chg_1RxHookmitt0001", "by": "zoe@example.com" }]),
            );
        }
        "/history".to_owned()
    });
    let Some(Value::Array(items)) = body.pointer_mut(&place) else { return };
    let Some(first) = items.first().cloned() else { return };
    loop {
        let mut item = first.clone();
        renew(&mut item, "", random);
        detail(&mut item, random);
        let length = item.to_string().len() + 1;
        items.push(item);
        if bytes <= length {
            return;
        }
        bytes -= length;
    }
}

/// Adds what lists of real events are full of: a time, a link that is signed, a note.
fn detail(item: &mut Value, random: &mut Random) {
    let Value::Object(members) = item else { return };
    let at = Timestamp::from_micros(random.now.as_micros() - random.within(0..86_400_000_000));
    members.insert("changed_at".to_owned(), Value::from(at.to_string()));
    members.insert(
        "metadata".to_owned(),
        json!({ "source": "api", "tags": [], "archived": false, "parent": null }),
    );
    if random.per_mille(200) {
        let (path, key, signature) = (random.project(), random.token(20), random.hex(64));
        let link = format!("https://files.example.com/{path}?key={key}&signature={signature}");
        members.insert("link".to_owned(), Value::from(link));
    }
    if random.per_mille(300) {
        let length = 20 + random.below(160);
        members.insert("note".to_owned(), Value::from(random.text(length)));
    }
}

/// Returns the JSON pointer of the longest list of objects in a value, and its length.
fn longest_list(value: &Value, place: &str) -> Option<(String, usize)> {
    let (own, inner): (_, Vec<_>) = match value {
        Value::Array(items) if items.first().is_some_and(Value::is_object) => {
            return Some((place.to_owned(), items.len()));
        }
        Value::Object(members) => {
            let inside = |(key, value): (&String, &Value)| {
                longest_list(value, &format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")))
            };
            (None, members.iter().map(inside).collect())
        }
        _ => (None, Vec::new()),
    };
    inner.into_iter().flatten().chain(own).max_by_key(|(_, length)| *length)
}
