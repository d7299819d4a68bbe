//! One request as a handler saw it, with everything that an inspector knows.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{CauseState, HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Context, Inquiry, Secret, explain, parse_public_key, provider};
use serde::Deserialize;

/// The last line that the programs print.
#[derive(Deserialize)]
pub(crate) struct Totals {
    pub(crate) requests: usize,
}

/// One provider's request with one fault.
#[derive(Deserialize)]
pub(crate) struct Case {
    /// The provider, or one of its schemes.
    pub(crate) row: String,
    pub(crate) fault: String,
    pub(crate) group: String,
    /// The provider that the source is set to.
    pub(crate) provider: String,
    /// The accepted codes for the first cause, or `valid`.
    pub(crate) expect: Vec<String>,
    #[serde(flatten)]
    pub(crate) wire: Wire,
    secrets: Vec<String>,
    public_key: Option<String>,
    params: BTreeMap<String, String>,
    others: Vec<Other>,
    nearby: Vec<Wire>,
    now_unix: i64,
}

/// A request.
#[derive(Deserialize)]
pub(crate) struct Wire {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body_base64: String,
}

/// A secret or public key of another source, or one that was rotated out.
#[derive(Deserialize)]
struct Other {
    label: String,
    value: Option<String>,
    public_key: Option<String>,
}

impl Other {
    fn secret(&self) -> Secret {
        match &self.public_key {
            Some(key) => public(&self.label, key),
            None => Secret::new(&self.label, self.value.clone().unwrap()),
        }
    }
}

/// What the verifier returned.
pub(crate) struct Explained {
    pub(crate) verdict: Verdict,
    pub(crate) codes: Vec<String>,
}

impl Wire {
    pub(crate) fn request(&self) -> Request {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let target = rest.find('/').map_or("/", |at| &rest[at..]);
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        Request {
            method: self.method.clone(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs(self.headers.iter().map(|(name, value)| (name, value))).unwrap(),
            body: STANDARD.decode(&self.body_base64).unwrap().into(),
        }
    }
}

fn public(label: &str, key: &str) -> Secret {
    Secret::public_key(label, parse_public_key(key.as_bytes()).unwrap())
}

impl Case {
    fn secrets(&self) -> Vec<Secret> {
        let shared = self
            .secrets
            .iter()
            .enumerate()
            .map(|(at, text)| Secret::new(format!("secret {at}"), text.clone()));
        shared.chain(self.public_key.iter().map(|key| public("public key", key))).collect()
    }

    /// Returns the verdict and the causes in order; `None` if the provider isn't in the catalogue.
    pub(crate) fn explained(&self) -> Option<Explained> {
        let provider = provider(&self.provider)?;
        let request = self.wire.request();
        let secrets = self.secrets();
        let params: Vec<_> = self.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let inquiry = Inquiry {
            request: &request,
            url: Some(&self.wire.url),
            provider: Some(provider),
            generic: None,
            scheme: None,
            secrets: &secrets,
            tolerance: None,
            at: Timestamp::from_seconds(self.now_unix),
            params: &params,
            published: None,
        };
        let others: Vec<_> = self.others.iter().map(Other::secret).collect();
        let nearby: Vec<_> = self.nearby.iter().map(Wire::request).collect();
        let context = Context { secrets: &others, requests: &nearby, ..Context::default() };
        let found = explain(&inquiry, &context);
        let kept = found.causes.into_iter().filter(|cause| cause.state != CauseState::RuledOut);
        Some(Explained { verdict: found.verdict, codes: kept.map(|cause| cause.code).collect() })
    }
}
