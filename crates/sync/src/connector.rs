//! How one provider's API lists what the provider has sent: data, which a test reads for every provider, and which users
//! write for services that have none (the generic connector).

use hookmitt_verify::Confidence;
use serde::Deserialize;
use serde_json::Value;
use url::{Origin, Url};

use crate::{
    paging::Paging,
    template::{Filling, Template},
};

/// How one provider's API lists what the provider has sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connector {
    /// The catalogue id, which is the file's name. Empty for one of a user's own.
    #[serde(skip)]
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Whether it is one of a user's own, who says which hosts get the key.
    #[serde(skip)]
    pub(crate) own: bool,
    /// How sure we are of what this file says. `None` for one of a user's own.
    pub confidence: Option<Confidence>,
    /// Where that was seen.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The hosts that the API key is sent to, and no others. Their templates know the params. For one of a user's own they
    /// are those that its URLs name.
    #[serde(default)]
    pub hosts: Vec<Template>,
    /// For how many days the provider lists what it has sent. `None` if it doesn't say.
    pub days: Option<u32>,
    /// What the API gives of an event.
    #[serde(default)]
    pub gives: Gives,
    /// What can't be recovered, and why: sentences for people.
    #[serde(default)]
    pub lost: Vec<String>,
    /// What a user has to say besides the key.
    #[serde(default)]
    pub params: Vec<Param>,
    /// How the API key is sent.
    pub key: Key,
    /// A request without side effects that succeeds if the key is right. By default the first page of the list.
    pub check: Option<Call>,
    /// What is listed, and how.
    pub list: List,
    /// What an item becomes. By default its JSON is the body.
    #[serde(default)]
    pub event: Shape,
}

/// What an API gives of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// The header lines and the payload that were sent. If the payload wasn't written anew, it can be verified.
    Sent,
    /// The event, but not what was signed.
    #[default]
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
    /// What is taken if it isn't said.
    pub default: Option<String>,
    /// Whether it may be left out.
    #[serde(default)]
    pub optional: bool,
}

/// How an API key is sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// In what.
    pub sent: KeyPlace,
    /// The least that the key must be allowed to do: a sentence for people.
    #[serde(default)]
    pub scope: String,
    /// Where it is made.
    #[serde(default)]
    pub hint: String,
}

/// Where an API key is sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `Authorization: Basic`, of a key that is written `name:password`, or of a name alone.
    Basic,
    /// A header line of that name.
    Header(String),
    /// `Authorization: Bearer`, of an access token that this URL gives for a key that is written `id:secret` (RFC 6749,
    /// 4.4).
    ClientCredentials(String),
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
    #[serde(default)]
    pub time: Option<String>,
    /// The id that its webhook carries, if what the item becomes doesn't have it before its content is asked for.
    pub key: Option<Template>,
    /// Ids that its webhook may carry instead, for example in an earlier version.
    #[serde(default)]
    pub also: Vec<Template>,
    /// Only items that have a text with this beginning at a pointer are events.
    #[serde(default)]
    pub only: Vec<(String, String)>,
    /// The query's names and values on the first page alone.
    #[serde(default)]
    pub first: Vec<(String, Template)>,
    /// How one page leads to the next.
    #[serde(default)]
    pub next: Paging,
    /// Whether the newest items come first, so that a page of older ones is the last.
    #[serde(default)]
    pub newest_first: bool,
    /// The request for an item's content, if the list doesn't have it. Its templates know the item's pointers, too.
    pub detail: Option<Call>,
}

/// What an item becomes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The header lines. Their templates know the item's pointers. A line whose value is missing is left out.
    #[serde(default)]
    pub headers: Vec<(String, Template)>,
    /// Where the item has an object of the header lines that were sent.
    pub header_lines: Option<String>,
    /// Where the item has the body, which is taken as it is written there; if it is a text, that text is the body. The
    /// empty pointer is the whole item.
    pub body: Option<String>,
    /// Otherwise: the body, as a JSON value whose texts are templates. One that is a pointer's place alone becomes what is
    /// there, and `{{}}` the whole item.
    pub json: Option<Value>,
}

/// Why a user's connector can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnError {
    /// It isn't written as connectors are.
    #[error("{0}")]
    Form(String),
    /// A URL has no fixed host.
    #[error(
        "{0:?} needs a scheme, a host and a `/` before the first `{{{{`, so that it is clear who gets the key"
    )]
    Host(String),
}

impl Connector {
    /// Reads a user's own connector.
    ///
    /// # Errors
    /// Fails if it isn't written as connectors are, or if a URL's host isn't fixed.
    pub fn own(json: Value) -> Result<Self, OwnError> {
        let read: Self = serde_json::from_value(json).map_err(|error| OwnError::Form(error.to_string()))?;
        for call in read.calls() {
            origin_of(&call.url).ok_or_else(|| OwnError::Host(call.url.beginning().to_owned()))?;
        }
        Ok(Self { own: true, ..read })
    }

    /// Whether this is one of a user's own.
    pub const fn is_own(&self) -> bool {
        self.own
    }

    /// Returns the hosts that the API key is sent to, for people.
    pub fn called_hosts(&self) -> Vec<String> {
        if !self.own {
            let texts = self.hosts.iter().map(ToString::to_string);
            return texts.map(|host| host.replace("{{", "<").replace("}}", ">")).collect();
        }
        let mut hosts: Vec<_> =
            self.calls().filter_map(|call| Some(origin_of(&call.url)?.ascii_serialization())).collect();
        hosts.dedup();
        hosts
    }

    /// Iterates over its requests.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        [&self.list.call].into_iter().chain(&self.check).chain(&self.list.detail)
    }

    /// Whether the API key may be sent there. `param` returns what the user has said.
    pub(crate) fn sends_to<'v>(&self, url: &Url, param: impl Fn(&str) -> Option<Filling<'v>>) -> bool {
        if !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        if self.own {
            return self.calls().any(|call| origin_of(&call.url).as_ref() == Some(&url.origin()));
        }
        let fits = |host: &str, known: &Template| {
            let filled = known.fill(&param, str::to_owned);
            filled.is_some_and(|known| known == host && known.bytes().all(is_of_host))
        };
        let is_known = url.host_str().is_some_and(|host| self.hosts.iter().any(|known| fits(host, known)));
        url.scheme() == "https" && url.port().is_none() && is_known
    }
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')
}

/// Returns where a user's URL leads, whatever is filled into it.
fn origin_of(url: &Template) -> Option<Origin> {
    let fixed = url.beginning();
    let (scheme, rest) = fixed.split_once("://")?;
    let is_fixed = rest.contains('/') || url.names().next().is_none();
    let parsed = Url::parse(fixed).ok()?;
    let is_http = matches!(scheme, "http" | "https") && parsed.username().is_empty();
    (is_fixed && is_http && parsed.has_host()).then(|| parsed.origin())
}
