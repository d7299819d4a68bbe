//! How one provider's API lists what the provider has sent: data, which a test reads for every provider, and which users
//! write for services that have none (the generic connector).

use hookmitt_verify::Confidence;
use serde::Deserialize;
use serde_json::Value;

use crate::{paging::Paging, template::Template};

/// How one provider's API lists what the provider has sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connector {
    /// The catalogue id, which is the file's name. Empty for one of a user's own.
    #[serde(skip)]
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// How sure we are of what this file says.
    pub confidence: Confidence,
    /// Where that was seen.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The hosts that the API key is sent to, and no others.
    pub hosts: Vec<String>,
    /// For how many days the provider lists what it has sent. `None` if it doesn't say.
    pub days: Option<u32>,
    /// What the API gives of an event.
    pub gives: Gives,
    /// What can't be recovered, and why: sentences for people.
    pub lost: Vec<String>,
    /// What a user has to say besides the key.
    #[serde(default)]
    pub params: Vec<Param>,
    /// How the API key is sent.
    pub key: Key,
    /// A request without side effects that succeeds if the key is right.
    pub check: Call,
    /// What is listed, and how.
    pub list: List,
    /// What an item becomes.
    pub event: Shape,
}

/// What an API gives of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// The header lines and the payload that were sent. If the payload wasn't written anew, it can be verified.
    Sent,
    /// The event, but not what was signed.
    Event,
    /// What the event is about, as it is now: there is one item, however many events it had.
    Object,
}

/// What a user has to say besides the key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its name in templates.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Where to find it.
    pub hint: String,
}

/// How an API key is sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// In what.
    pub sent: KeyPlace,
    /// The least that the key must be allowed to do: a sentence for people.
    pub scope: String,
    /// Where it is made.
    pub hint: String,
}

/// Where an API key is sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `Authorization: Basic`, of a key that is written `name:password`.
    Basic,
    /// A header line of that name.
    Header(String),
}

/// A request to the API.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// GET, or another method.
    #[serde(default = "get")]
    pub method: String,
    /// The URL without its query.
    pub url: Template,
    /// The query's names and values. A pair whose value is missing is left out.
    #[serde(default)]
    pub query: Vec<(String, Template)>,
    /// Header lines besides the key's.
    #[serde(default)]
    pub headers: Vec<(String, Template)>,
    /// A JSON body. Its texts are templates; one whose value is missing becomes null, and one that is a number's place
    /// alone becomes that number.
    pub json: Option<Value>,
}

fn get() -> String {
    "GET".to_owned()
}

/// What is listed, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The request for a page. Its templates know the params, `since`, `until`, `cursor`, `page` and `offset`.
    pub call: Call,
    /// Where a page's items are: a JSON pointer.
    pub items: String,
    /// Where an item's id is.
    pub id: String,
    /// Where an item's time is.
    pub time: String,
    /// How one page leads to the next.
    pub next: Paging,
    /// Whether the newest items come first, so that a page of older ones is the last.
    #[serde(default)]
    pub newest_first: bool,
    /// The request for an item's content, if the list doesn't have it. Its templates know the item's pointers, too.
    pub detail: Option<Call>,
}

/// What an item becomes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The header lines. Their templates know the item's pointers. A line whose value is missing is left out.
    #[serde(default)]
    pub headers: Vec<(String, Template)>,
    /// Where the item has an object of the header lines that were sent.
    pub header_lines: Option<String>,
    /// Where the item has the body, which is taken as it is written there. The empty pointer is the whole item.
    pub body: Option<String>,
    /// Otherwise: the body, as a JSON value whose texts are templates.
    pub json: Option<Value>,
}
