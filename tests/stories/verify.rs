//! `hookmitt verify --request` with the published vectors, each in a process of its own.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{Ran, shared, signature};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::listen::{command, folder};

#[derive(Deserialize)]
struct Vector {
    id: String,
    provider: String,
    scheme: String,
    secret: Option<String>,
    secrets: Option<Vec<String>>,
    public_key: Option<String>,
    public_key_format: Option<String>,
    params: Option<HashMap<String, Value>>,
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
    /// Returns the codes that may come first for a reason; `None` if the reason names a scenario.
    fn of(&self, reason: &str) -> Option<Vec<String>> {
        let decided = || self.codes.iter().find(|(_, reasons)| reasons.iter().any(|known| known == reason));
        self.undecidable.get(reason).cloned().or_else(|| decided().map(|(code, _)| vec![code.clone()]))
    }
}

impl Vector {
    /// Returns the vector as a raw message with lines that end in CRLF or LF.
    fn message(&self, line_end: &str) -> Vec<u8> {
        let target = self.url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
        let target = target.map_or(String::new(), |(_, path)| path.to_owned());
        let mut head = format!("{} /{target} HTTP/1.1{line_end}", self.method);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}{line_end}"));
        }
        head.push_str(line_end);
        [head.into_bytes(), STANDARD.decode(&self.body_base64).expect("base64")].concat()
    }

    /// Lets the command verify the message; returns the vector and the command's output.
    async fn complaint(self, at: usize, folder: PathBuf) -> Option<(Self, Ran)> {
        let line_end = if at.is_multiple_of(2) { "\r\n" } else { "\n" };
        let file = folder.join(format!("{at}.http"));
        fs::write(&file, self.message(line_end)).expect("a file");
        let mut verify = command(&folder.join("data"), &["verify", "--json", "--request"]);
        verify.arg(&file).args(["--provider", &self.provider, "--scheme", &self.scheme, "--url", &self.url]);
        verify.arg("--at").arg(self.now_unix.to_string());
        let several = self.secrets.clone().or_else(|| self.secret.clone().map(|one| vec![one]));
        for (number, secret) in several.unwrap_or_default().into_iter().enumerate() {
            verify
                .env(format!("SECRET_{number}"), secret)
                .args(["--secret-env", &format!("SECRET_{number}")]);
        }
        for (name, value) in self.params() {
            verify.args(["--param", &format!("{name}={value}")]);
        }
        if let Some(key) = &self.public_key {
            let file = folder.join(format!("{at}.key"));
            fs::write(&file, key).expect("a file");
            verify.arg("--public-key").arg(file);
        }
        Some((self, Ran::of(verify).await))
    }

    /// Returns the params that the request doesn't contain, including a key's id, which a PEM file doesn't contain.
    fn params(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let params = self.params.iter().flatten().map(|(name, value)| (name.clone(), text(value)));
        let kid = self.public_key_format.as_deref().and_then(|format| format.split_once("(kid "));
        let kid = kid.map(|(_, kid)| ("kid".to_owned(), kid.trim_end_matches(')').to_owned()));
        // The vectors are older than the rule that a topic must be configured (Threat 6), so it is taken from the body.
        let body = STANDARD.decode(&self.body_base64).expect("base64");
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let topic = body["TopicArn"].as_str().filter(|_| self.provider == "aws_sns");
        let topic = topic.map(|topic| ("topic_arn".to_owned(), topic.to_owned()));
        params.chain(kid).chain(topic).collect()
    }

    fn check(&self, ran: &Ran, causes: &Causes) -> Result<(), String> {
        let fail =
            |what: &str| Err(format!("{}: {what}: exit {} {}{}", self.id, ran.code, ran.text(), ran.err));
        let Ok(said) = serde_json::from_slice::<Value>(&ran.out) else { return fail("no JSON") };
        let valid = said["verdict"] == "valid";
        if ran.code != i32::from(!valid) {
            return fail("the exit code is not the verdict's");
        }
        if !self.ambiguous && valid != (self.expect == "valid") {
            return fail(&format!("should be {}", self.expect));
        }
        match causes.of(&self.reason) {
            Some(expected) if !valid && !expected.iter().any(|code| said["causes"][0]["code"] == *code) => {
                fail(&format!("the cause should be one of {expected:?}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the vectors of every provider.
fn vectors() -> Option<Vec<Vector>> {
    let within = |folder: &Path| {
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let folders = [within(&shared("vectors/open")?), within(&shared("vectors/derived/open")?)].concat();
    let files = folders.iter().flat_map(|folder| within(folder));
    Some(files.map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap()).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_vector_gets_its_exit_code_verdict_and_cause() {
    let Some(vectors) = vectors() else { return };
    let causes = fs::read_to_string(shared("vectors/causes.toml").unwrap()).unwrap();
    let causes: Causes = toml::from_str(&causes).unwrap();
    let (folder, count) = (folder(), vectors.len());
    let (mut running, mut complaints) = (JoinSet::new(), Vec::new());
    for (at, vector) in vectors.into_iter().enumerate() {
        if running.len() >= 4 {
            judge_next(&mut running, &causes, &mut complaints).await;
        }
        running.spawn(vector.complaint(at, folder.path().to_owned()));
    }
    while !running.is_empty() {
        judge_next(&mut running, &causes, &mut complaints).await;
    }
    hookmitt_stories::report(&format!("verify: {count} vectors, {} failed", complaints.len()));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

async fn judge_next(
    running: &mut JoinSet<Option<(Vector, Ran)>>,
    causes: &Causes,
    complaints: &mut Vec<String>,
) {
    if let Some((vector, ran)) = running.join_next().await.and_then(|judged| judged.expect("no panic")) {
        complaints.extend(vector.check(&ran, causes).err());
    }
}

async fn verify(file: &Path, secrets: &[(&str, &str)], more: &[&str]) -> Ran {
    let mut verify = command(&file.with_extension("data"), &["verify", "--json", "--request"]);
    verify.arg(file).args(more);
    for (name, secret) in secrets {
        verify.env(name, secret).args(["--secret-env", name]);
    }
    Ran::of(verify).await
}

/// Returns Stripe's signature at this time.
fn stripe(at: i64, secret: &str) -> String {
    format!("t={at},v1={}", signature(secret, format!("{at}.{{}}").as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_raw_message_is_judged_now_and_a_fixture_when_it_was_received() {
    let folder = folder();
    let (file, at) = (folder.path().join("a.http"), 1_750_000_000);
    let head = format!("POST /x HTTP/1.1\r\nStripe-Signature: {}\r\n\r\n", stripe(at, "whsec_a"));
    fs::write(&file, format!("{head}{{}}")).unwrap();
    let secret = [("SECRET", "whsec_a")];
    let ran = verify(&file, &secret, &[]).await.exits(1).json().remove(0);
    assert_eq!((&ran["verdict"], &ran["causes"][0]["code"]), (&json!("invalid"), &json!("timestamp_old")));
    let ran = verify(&file, &secret, &["--at", "1750000100"]).await.exits(0).json().remove(0);
    let expected = json!({ "verdict": "valid", "provider": "stripe", "scheme": "stripe-v1", "secret_label": "env:SECRET", "causes": [] });
    assert_eq!(ran, expected);

    let fixture = folder.path().join("a.fixture.json");
    let text = json!({
        "format": 1, "source": "s", "provider": "stripe", "type": null, "received_at": "2025-06-15T15:06:41.000000Z",
        "url": "http://h/s", "method": "POST", "path": "", "query": null, "http_version": "HTTP/1.1",
        "headers": [["Stripe-Signature", stripe(at, "whsec_a")]], "body": "{}",
        "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "dedupe_key": null, "verdict": "valid", "redacted": false, "test_secret": null,
    });
    fs::write(&fixture, text.to_string()).unwrap();
    verify(&fixture, &secret, &[]).await.exits(0);
    verify(&fixture, &secret, &["--at", "1760000000"]).await.exits(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_no_from_bad_input() {
    let folder = folder();
    let file = folder.path().join("a.http");
    let signed = signature("right", b"{}");
    fs::write(
        &file,
        format!("POST / HTTP/1.1\nX-GitHub-Event: push\nX-Hub-Signature-256: sha256={signed}\n\n{{}}"),
    )
    .unwrap();
    verify(&file, &[("A", "wrong"), ("B", "right")], &[]).await.exits(0);
    let ran = verify(&file, &[("A", "wrong")], &[]).await.exits(1).json().remove(0);
    assert_eq!(ran["causes"][0]["code"], "no_match");
    assert!(verify(&file, &[], &[]).await.exits(2).text().contains("no_secret"), "no secret is bad input");
    verify(&file, &[("A", "right")], &["--provider", "nobody"]).await.exits(2);
    verify(&folder.path().join("none"), &[("A", "right")], &[]).await.exits(2);
    let plain = folder.path().join("b.http");
    fs::write(&plain, "POST / HTTP/1.1\nX-GitHub-Event: push\n\n{}").unwrap();
    let ran = verify(&plain, &[("A", "right")], &["--provider", "github"]).await.exits(1).json().remove(0);
    assert_eq!(ran["verdict"], "unsigned");
    fs::write(&plain, "no message at all").unwrap();
    verify(&plain, &[("A", "right")], &["--provider", "github"]).await.exits(2);
}
