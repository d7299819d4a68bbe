//! The published and derived vectors of the providers that we verify, read from outside the repository.
//!
//! They contain third-party test data and are not copied here. `tests/sdk.rs` and `tests/slips.rs` test the same things
//! in a clone without them.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::Write as _,
    path::PathBuf,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Context, Inquiry, Secret, explain, parse_public_key, provider, recognise};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vector {
    id: String,
    provider: String,
    scheme: String,
    secret: Option<String>,
    secrets: Option<Vec<String>>,
    public_key: Option<String>,
    public_key_format: Option<String>,
    params: Option<BTreeMap<String, serde_json::Value>>,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body_base64: String,
    now_unix: i64,
    expect: String,
    reason: String,
    #[serde(default)]
    ambiguous: bool,
}

#[derive(Deserialize)]
struct Causes {
    codes: HashMap<String, Vec<String>>,
    undecidable: HashMap<String, Vec<String>>,
}

impl Causes {
    /// Returns the codes that may come first for that reason; `None` if the reason is a scenario.
    fn of(&self, reason: &str) -> Option<Vec<&str>> {
        if let Some(codes) = self.undecidable.get(reason) {
            return Some(codes.iter().map(String::as_str).collect());
        }
        let found = self.codes.iter().find(|(_, reasons)| reasons.iter().any(|known| known == reason));
        found.map(|(code, _)| vec![code.as_str()])
    }
}

fn vectors_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors")
}

fn read(folder: &str) -> Vec<Vector> {
    let mut paths: Vec<_> =
        fs::read_dir(vectors_folder().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}

/// Returns the folders of the providers.
fn folders() -> Vec<String> {
    let below = |parent: &str| {
        let entries = fs::read_dir(vectors_folder().join(parent)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.map(|name| format!("{parent}/{name}")).collect::<Vec<_>>()
    };
    let mut all = [below("open"), below("derived/open")].concat();
    all.sort();
    all
}

impl Vector {
    fn request(&self) -> Request {
        let (_, target) =
            self.url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap_or_default();
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        Request {
            method: self.method.clone(),
            path: format!("/{path}"),
            query: query.map(str::to_owned),
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs(self.headers.iter().map(|(name, value)| (name, value))).unwrap(),
            body: STANDARD.decode(&self.body_base64).unwrap().into(),
        }
    }

    fn secrets(&self) -> Vec<Secret> {
        let several = self.secrets.clone().or_else(|| self.secret.clone().map(|secret| vec![secret]));
        let shared =
            several.into_iter().flatten().enumerate().map(|(at, text)| Secret::new(at.to_string(), text));
        let public = self
            .public_key
            .as_ref()
            .map(|key| Secret::public_key("public", parse_public_key(key.as_bytes()).unwrap()));
        shared.chain(public).collect()
    }

    fn params(&self) -> Vec<(String, String)> {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let params = self.params.iter().flatten().map(|(name, value)| (name.clone(), text(value)));
        let kid = self.public_key_format.as_deref().and_then(|format| format.split_once("(kid "));
        let kid = kid.map(|(_, kid)| ("kid".to_owned(), kid.trim_end_matches(')').to_owned()));
        // These vectors are older than the rule that a topic must be configured (Threat 6), so the topic is taken from
        // the body.
        let body: serde_json::Value =
            serde_json::from_slice(&STANDARD.decode(&self.body_base64).unwrap()).unwrap_or_default();
        let topic = body["TopicArn"].as_str().filter(|_| self.provider == "aws_sns");
        let topic = topic.map(|topic| ("topic_arn".to_owned(), topic.to_owned()));
        params.chain(kid).chain(topic).collect()
    }

    /// Returns what is wrong with our answer; `None` if it is right, or if the vector is ambiguous.
    fn complaint(&self, causes: &Causes) -> Option<String> {
        let (request, secrets, params) = (self.request(), self.secrets(), self.params());
        let inquiry = Inquiry {
            request: &request,
            url: Some(&self.url),
            provider: Some(provider(&self.provider).unwrap()),
            generic: None,
            scheme: Some(&self.scheme),
            secrets: &secrets,
            tolerance: None,
            at: Timestamp::from_seconds(self.now_unix),
            params: &params,
            published: None,
        };
        let found = explain(&inquiry, &Context::default());
        let valid = found.verdict == Verdict::Valid;
        let first = found.causes.first().map_or("", |cause| cause.code.as_str());
        if self.ambiguous {
            return self.ambiguous_answer(found.verdict, &found.sentence);
        }
        if valid != (self.expect == "valid") {
            return Some(format!("{}: {} instead of {}; {first}", self.id, found.verdict, self.expect));
        }
        let expected = causes.of(&self.reason).filter(|_| !valid)?;
        (!expected.contains(&first)).then(|| format!("{}: {first} instead of {expected:?}", self.id))
    }
}

impl Vector {
    /// The official SDKs disagree here, or their answer is a policy. Our answer is listed with the reason.
    fn ambiguous_answer(&self, verdict: Verdict, why: &str) -> Option<String> {
        let line = format!("ambiguous: {:<58} {:<8} ours: {verdict:<8} {why}", self.id, self.expect);
        writeln!(std::io::stderr().lock(), "{line}").unwrap();
        None
    }
}

/// Reports that something was left out, to stderr and to the file where the run counts such lines.
fn skipped(why: &str) {
    writeln!(std::io::stderr().lock(), "skipped: {why}").unwrap();
    if let Some(path) = std::env::var_os("HOOKMITT_SKIPPED") {
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{why}").unwrap();
    }
}

#[test]
fn every_vector_gets_its_verdict_and_first_cause() {
    if !vectors_folder().is_dir() {
        return skipped("the shared vectors are not there (../shared/vectors)");
    }
    let causes: Causes =
        toml::from_str(&fs::read_to_string(vectors_folder().join("causes.toml")).unwrap()).unwrap();
    let mut complaints = Vec::new();
    let mut count = 0;
    for folder in folders() {
        for vector in read(&folder) {
            complaints.extend(vector.complaint(&causes));
            count += 1;
        }
    }
    let failed = complaints.len();
    writeln!(std::io::stderr().lock(), "vectors: {} passed, {failed} failed", count - failed).unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_vectors_providers_are_recognised() {
    if !vectors_folder().is_dir() {
        return skipped("the shared vectors are not there (../shared/vectors)");
    }
    for (folder, expected) in
        [("open/github", "github"), ("open/slack", "slack"), ("derived/open/gitea", "gitea")]
    {
        for vector in read(folder) {
            let found = recognise(&vector.request()).map(|provider| provider.id.as_str());
            assert_eq!(found, Some(expected), "{}", vector.id);
        }
    }
}
