//! Samples, signed in every scheme that we can sign in.

use std::{fs, path::Path};

use hookmitt_event::{HeaderLines, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Inquiry, Judgement, Provider, Secret, SignBy, judge, providers, sample, sample_types, sign, test_secret,
};
use serde::Deserialize;

use crate::Part;

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const URL: &str = "https://hooks.example.com/in/sub?x=1&y=a%20b";

/// The headers that Contentful signs if a request lists none.
const CONTENTFUL: [&str; 2] = ["x-contentful-signed-headers", "x-contentful-timestamp"];

/// The parts of a request that a scheme covers, as the provider's file lists them.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SchemeText {
    pub(crate) id: String,
    #[serde(default)]
    signature: Vec<String>,
    #[serde(default)]
    timestamp: Vec<String>,
    #[serde(default)]
    message_id: Vec<String>,
    #[serde(default)]
    content: String,
    #[serde(default)]
    special: String,
    #[serde(default)]
    when: Vec<String>,
}

/// A signed and valid request.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    provider: &'static Provider,
    pub(crate) scheme: SchemeText,
    /// Whether it is judged by this scheme alone, not by any of its provider's schemes.
    named: bool,
    pub(crate) kind: String,
    pub(crate) request: Request,
    pub(crate) url: String,
    secret: &'static str,
    params: Vec<(String, String)>,
}

pub(crate) fn cases() -> Vec<Case> {
    let of = |provider: &'static Provider| {
        let schemes = schemes(provider);
        sample_types(provider).into_iter().flat_map(move |kind| {
            let signed = |scheme: &SchemeText| Case::signed(provider, kind, scheme);
            let usual = Case::usual(provider, kind, &schemes);
            schemes.iter().filter_map(signed).chain(usual).collect::<Vec<_>>()
        })
    };
    providers().flat_map(of).collect()
}

fn schemes(provider: &Provider) -> Vec<SchemeText> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        scheme: Vec<SchemeText>,
    }
    let read = |id: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("providers/{id}.toml"));
        toml::from_str::<File>(&fs::read_to_string(path).unwrap()).unwrap().scheme
    };
    let own = read(&provider.id);
    let family = provider.family.as_deref().filter(|_| own.is_empty());
    family.map_or(own, read)
}

impl Case {
    /// Signs a sample in that scheme, to be judged by that scheme alone.
    fn signed(provider: &'static Provider, kind: &str, scheme: &SchemeText) -> Option<Self> {
        let made = sample(provider, Some(kind), "0197-flips", AT).unwrap();
        let case = Self { named: true, ..Self::new(provider, kind, scheme, &scheme.asked_of(&made))? };
        case.is_valid().then_some(case)
    }

    /// Signs a sample as `send` does, to be judged as in capture: by whichever scheme matches.
    fn usual(provider: &'static Provider, kind: &str, schemes: &[SchemeText]) -> Option<Self> {
        let made = sample(provider, Some(kind), "0197-flips", AT).unwrap();
        let case = Self::new(provider, kind, schemes.first()?, &made)?;
        let fits = case.judgement().scheme.filter(|_| case.is_valid())?;
        Some(Self { scheme: schemes.iter().find(|scheme| scheme.id == fits)?.clone(), ..case })
    }

    fn new(provider: &'static Provider, kind: &str, scheme: &SchemeText, made: &Request) -> Option<Self> {
        // The sample itself contains the topic.
        let body: serde_json::Value = serde_json::from_slice(&made.body).unwrap_or_default();
        let topic = body["TopicArn"].as_str().unwrap_or_default();
        let value = |name: &str| if name == "topic_arn" { topic } else { "configured" }.to_owned();
        let params: Vec<_> =
            provider.params.iter().map(|param| (param.name.clone(), value(&param.name))).collect();
        let url = called(made);
        // Standard Webhooks' key pair signatures need a private key, and Discord's test key is one.
        let keyed =
            if scheme.id.ends_with("-ed25519") { hookmitt_verify::provider("discord")? } else { provider };
        let secret = test_secret(keyed).value;
        let by = SignBy { url: Some(&url), params: &params, ..SignBy::new(provider, secret.as_bytes(), AT) };
        let request = sign(&by, made).ok()?;
        let (scheme, kind, url) = (scheme.clone(), kind.to_owned(), called(&request));
        Some(Self { provider, scheme, named: false, kind, request, url, secret, params })
    }

    /// Returns its provider and scheme.
    pub(crate) fn id(&self) -> String {
        format!("{} {}", self.provider.id, self.scheme.id)
    }

    /// Whether its verdict is valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.judgement().verdict == Verdict::Valid
    }

    fn judgement(&self) -> Judgement {
        let secrets = [Secret::new("test", self.secret)];
        let inquiry = Inquiry {
            request: &self.request,
            url: Some(&self.url),
            provider: Some(self.provider),
            generic: None,
            scheme: self.named.then_some(self.scheme.id.as_str()),
            secrets: &secrets,
            tolerance: None,
            at: AT,
            params: &self.params,
            published: None,
        };
        judge(&inquiry)
    }

    /// Returns the parts of it that the scheme covers.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let scheme = &self.scheme;
        let signed = |place: &str| scheme.content.contains(place);
        let covers_url = ["{url}", "{path_query}"].iter().any(|place| signed(place));
        let times = scheme.timestamp.iter().filter(|_| signed("{timestamp}"));
        let ids = scheme.message_id.iter().filter(|_| signed("{id}"));
        let places: Vec<_> = scheme.signature.iter().chain(times).chain(ids).collect();
        let header = |name: &str| {
            let named = |place: &&String| {
                place.strip_prefix("header:").is_some_and(|own| match own.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => own.eq_ignore_ascii_case(name),
                })
            };
            let lower = name.to_ascii_lowercase();
            places.iter().any(named) || scheme.special == "contentful" && CONTENTFUL.contains(&lower.as_str())
        };
        let names = self.request.headers.iter().map(|line| line.name).filter(|name| header(name));
        let url = covers_url.then_some(Part::Url);
        let names = names.map(|name| Part::Header(name.to_owned()));
        names.chain([Part::Body]).chain(url).collect()
    }
}

/// Returns the URL with the request's own query, if it has one.
fn called(request: &Request) -> String {
    let base = URL.split('?').next().unwrap_or_default();
    request.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{base}?{query}"))
}

impl SchemeText {
    /// Adds the lines that select this scheme among its provider's.
    fn asked_of(&self, request: &Request) -> Request {
        let mut pairs: Vec<_> =
            request.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
        let mut query = request.query.clone();
        let mut set = |name: &str, value: Option<&str>| {
            pairs.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            pairs.extend(value.map(|value| (name.to_owned(), value.as_bytes().to_vec())));
        };
        for condition in &self.when {
            if let Some(name) = condition.strip_prefix("!header:") {
                set(name.split('=').next().unwrap_or(name), None);
            } else if let Some(line) = condition.strip_prefix("header:") {
                let (name, value) = line.split_once('=').unwrap_or((line, "algorithm=HMAC_SHA256"));
                set(name, Some(value));
            } else if condition.starts_with("query:") {
                query = Some("bodySHA256=00".to_owned());
            }
        }
        if let Some(name) = self.signature.first().and_then(|place| place.strip_prefix("header:"))
            && !name.ends_with('*')
        {
            set(name, Some("to be replaced"));
        }
        Request { headers: HeaderLines::from_pairs(pairs).unwrap(), query, ..request.clone() }
    }
}
