//! Requests of one kind of source: their header lines and bodies, unsigned.

use bytes::Bytes;
use hookmitt_event::{HeaderLines, HttpVersion, Request};
use hookmitt_verify::{Provider, sample, sample_types};
use serde_json::{Value, json};

use super::{
    fresh::{renew, renew_form},
    grow::grow,
    random::Random,
    words::RARE_WORD,
};

/// What is asked of a body.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// About how many bytes it has, if it isn't a form.
    pub(super) size: usize,
    /// Whether the rare word is in it.
    pub(super) rare: bool,
}

/// Returns the types of a provider's samples, without set-up requests.
pub(super) fn types(provider: &Provider) -> Vec<&str> {
    let is_set_up = |kind: &str| ["ping", "verif", "uninstalled"].iter().any(|word| kind.contains(word));
    sample_types(provider).into_iter().filter(|kind| !is_set_up(kind)).collect()
}

/// Returns a fresh request of a provider, of one of these types. The first types are the most frequent.
pub(super) fn of_provider(
    provider: &'static Provider,
    types: &[&str],
    wish: Wish,
    random: &mut Random,
) -> Request {
    let kind = types[random.below(types.len()).min(random.below(types.len()))];
    let id = random.token(24);
    let mut request = sample(provider, Some(kind), &id, random.now).expect("the provider has samples");
    request.body = renewed(&request.body, wish, random);
    request
}

fn renewed(body: &[u8], wish: Wish, random: &mut Random) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
        return Bytes::from(renew_form(&String::from_utf8_lossy(body), random));
    };
    renew(&mut value, "", random);
    written(value, wish, body.starts_with(b"{\n"), random)
}

/// Writes a body with what is wished for. If the provider indents its bodies, so is this one.
fn written(mut value: Value, wish: Wish, indented: bool, random: &mut Random) -> Bytes {
    if let (true, Value::Object(members)) = (wish.rare, &mut value) {
        members.insert("comment".to_owned(), Value::from(format!("{} {RARE_WORD}", random.text(30))));
    }
    let missing = wish.size.saturating_sub(value.to_string().len());
    if missing > 0 {
        grow(&mut value, missing, random);
    }
    let text = if indented { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) };
    Bytes::from(text.expect("JSON can be written"))
}

/// Returns a request of a service of the developer's own, which signs nothing.
pub(super) fn plain(slug: &str, wish: Wish, random: &mut Random) -> Request {
    let kind = ["created", "changed", "changed", "changed", "closed"][random.below(5)];
    let length = 40 + random.below(80);
    let value = json!({
        "id": format!("{slug}-{}", random.token(12)),
        "type": format!("{slug}.{kind}"),
        "at": random.now.to_string(),
        "customer": { "name": random.person(), "email": random.email() },
        "total": random.within(100..500_000),
        "note": random.text(length),
    });
    let lines = [
        ("Host", "localhost"),
        ("User-Agent", "python-requests/2.32.3"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Accept", "*/*"),
        ("Connection", "keep-alive"),
        ("Content-Type", "application/json"),
    ];
    Request {
        method: "POST".to_owned(),
        path: format!("/v1/{kind}"),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(lines).expect("header lines"),
        body: written(value, wish, false, random),
    }
}
