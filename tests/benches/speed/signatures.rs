//! How long a verdict and its explanation take.

use std::{hint::black_box, time::Instant};

use anyhow::{Context as _, ensure};
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Context, Inquiry, Secret, SignBy, explain, facts, judge, provider, recognise, sign};

use crate::workload::{BODY, SECRET};

/// The approximate size of the explained event's body, in bytes.
pub(crate) const EXPLAINED_BODY: usize = 100_000;
/// How many secrets are known to the explanation: the source's own and those of other sources.
pub(crate) const EXPLAINED_SECRETS: usize = 20;
const VERDICTS: u32 = 20_000;
const EXPLANATIONS: usize = 9;

/// The results.
pub(crate) struct Signatures {
    /// The time to recognise and judge a GitHub event and to read its facts, in microseconds.
    pub(crate) verdict: f64,
    /// The time to explain an event that fits no secret and no known change, in milliseconds. This is the slowest case.
    /// One secret is the source's own.
    pub(crate) explanation: f64,
    /// The same if all secrets are the source's own.
    pub(crate) explanation_own: f64,
}

pub(crate) fn measured() -> anyhow::Result<Signatures> {
    Ok(Signatures {
        verdict: verdict()?,
        explanation: explanation(1)?,
        explanation_own: explanation(EXPLAINED_SECRETS)?,
    })
}

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

/// Returns a signed GitHub event with a JSON body of about this size.
fn event(size: usize) -> anyhow::Result<Request> {
    let item = r#"{"id":123456,"name":"Zoë – a/b & <c>","price":10.5,"tags":["x","y"],"ok":true}"#;
    let items = vec![item; (size / item.len()).max(1)].join(",");
    let headers = [("Host", "localhost"), ("X-GitHub-Event", "push"), ("Content-Type", "application/json")];
    let request = Request {
        method: "POST".to_owned(),
        path: "/github".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers)?,
        body: format!(r#"{{"items":[{items}]}}"#).into(),
    };
    let github = provider("github").context("GitHub is in the catalogue")?;
    Ok(sign(&SignBy::new(github, SECRET.as_bytes(), AT), &request)?)
}

fn inquiry<'a>(request: &'a Request, secrets: &'a [Secret]) -> Inquiry<'a> {
    Inquiry {
        request,
        url: None,
        provider: None,
        generic: None,
        scheme: None,
        secrets,
        tolerance: None,
        at: AT,
        params: &[],
        published: None,
    }
}

fn verdict() -> anyhow::Result<f64> {
    let request = event(BODY)?;
    let secrets = [Secret::new("main", SECRET)];
    let once = || {
        let provider = recognise(black_box(&request));
        let judgement = judge(&Inquiry { provider, ..inquiry(&request, &secrets) });
        black_box(facts(&request, provider, None));
        judgement.verdict
    };
    ensure!(once() == Verdict::Valid, "the event is genuine");
    let began = Instant::now();
    for _ in 0..VERDICTS {
        black_box(once());
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(VERDICTS))
}

/// Returns the median time of an explanation, in milliseconds. The first `own` secrets are the source's, the rest
/// belong to other sources.
fn explanation(own: usize) -> anyhow::Result<f64> {
    let signed = event(EXPLAINED_BODY)?;
    let request =
        Request { body: [&signed.body[..signed.body.len() - 7], b"null}]}"].concat().into(), ..signed };
    let secret = |number| Secret::new(format!("shop/{number}"), format!("another secret {number}"));
    let known: Vec<_> = (0..EXPLAINED_SECRETS).map(secret).collect();
    let (own, others) = known.split_at(own);
    let github = provider("github");
    let mut spans = Vec::new();
    for _ in 0..EXPLANATIONS {
        let began = Instant::now();
        let context = Context { secrets: others, ..Context::default() };
        let found = explain(&Inquiry { provider: github, ..inquiry(&request, own) }, &context);
        spans.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(found.causes.first().is_some_and(|first| first.code == "no_match"), "nothing fits");
    }
    spans.sort_by(f64::total_cmp);
    Ok(spans[spans.len() / 2])
}
