//! What providers' APIs answer, in the shapes that they document, and the webhooks about the same things.

mod commerce;
mod messages;
mod money;
mod standard;
pub(crate) mod stripe;
mod tools;

use hookmitt_event::Timestamp;
use hookmitt_stories::{ApiAnswer, ApiCall};
use serde_json::Value;

/// Something that a provider has sent a webhook about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thing {
    pub(crate) number: usize,
    pub(crate) at: Timestamp,
}

impl Thing {
    /// Returns its time to the second, in RFC 3339.
    pub(crate) fn rfc3339(self) -> String {
        Timestamp::from_seconds(self.at.as_seconds()).to_string().replace(".000000", "")
    }

    /// Returns an id with this beginning.
    pub(crate) fn id(self, beginning: &str) -> String {
        format!("{beginning}{:05}", self.number)
    }
}

/// A webhook's header lines and body.
pub(crate) type Webhook = (Vec<(&'static str, String)>, String);

/// One provider's API.
pub(crate) struct Shape {
    /// The connector.
    pub(crate) id: &'static str,
    /// The API's host, as our connector calls it.
    pub(crate) host: &'static str,
    /// What the connector has to know.
    pub(crate) params: &'static [(&'static str, &'static str)],
    /// The API key.
    pub(crate) key: &'static str,
    /// The header line that has to come with each call.
    pub(crate) proof: (&'static str, &'static str),
    /// How many things there are.
    pub(crate) things: usize,
    /// Answers a call; `None` for a path that doesn't exist.
    pub(crate) says: fn(&ApiCall, &[Thing]) -> Option<ApiAnswer>,
    /// The webhook about a thing.
    pub(crate) webhook: fn(Thing) -> Webhook,
}

/// All of them.
pub(crate) fn shapes() -> Vec<Shape> {
    [standard::shapes(), money::shapes(), commerce::shapes(), messages::shapes(), tools::shapes()]
        .into_iter()
        .flatten()
        .collect()
}

impl Shape {
    /// Answers a call as the API does.
    pub(crate) fn answer(&self, call: &ApiCall, things: &[Thing]) -> ApiAnswer {
        let (name, value) = self.proof;
        let is_token = call.path == "/v1/oauth2/token";
        // The scheme's name may be written in any case.
        let fits = call.header(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        if !is_token && !fits {
            return ApiAnswer::error(401, "unauthorized");
        }
        (self.says)(call, things).unwrap_or_else(|| ApiAnswer::error(404, &format!("no {}", call.path)))
    }
}

/// Returns the things within a time, newest first.
pub(crate) fn within(things: &[Thing], from: Option<i64>, to: Option<i64>) -> Vec<Thing> {
    let fits = |thing: &Thing| {
        let at = thing.at.as_seconds();
        from.is_none_or(|from| at >= from) && to.is_none_or(|to| at <= to)
    };
    let mut found: Vec<_> = things.iter().copied().filter(fits).collect();
    found.sort_by_key(|thing| -thing.at.as_seconds());
    found
}

/// Returns Unix seconds of a moment in RFC 3339.
pub(crate) fn seconds(text: Option<&str>) -> Option<i64> {
    Some(text?.parse::<Timestamp>().ok()?.as_seconds())
}

/// Returns at most `size` things after the one with that id, and whether there are more.
pub(crate) fn after<'t>(
    things: &'t [Thing],
    cursor: Option<&str>,
    size: usize,
    id: impl Fn(&Thing) -> String,
) -> (&'t [Thing], bool) {
    let begin = cursor.and_then(|cursor| things.iter().position(|thing| id(thing) == cursor));
    let rest = &things[begin.map_or(0, |place| place + 1)..];
    (&rest[..rest.len().min(size)], rest.len() > size)
}

/// Returns the pages' numbered part, from 0.
pub(crate) fn page(things: &[Thing], number: usize, size: usize) -> &[Thing] {
    let begin = (number * size).min(things.len());
    &things[begin..(begin + size).min(things.len())]
}

/// Lists things as JSON.
pub(crate) fn all(things: &[Thing], each: impl Fn(Thing) -> Value) -> Vec<Value> {
    things.iter().copied().map(each).collect()
}

/// Returns a JSON webhook without header lines of its own.
pub(crate) fn plain(body: &Value) -> Webhook {
    (vec![("Content-Type", "application/json".to_owned())], body.to_string())
}
