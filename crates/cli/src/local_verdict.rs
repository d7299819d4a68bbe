//! Verifies a request in this process, with secrets and keys from the command line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hookmitt_event::{GenericScheme, Plain, Request, Timestamp, Verdict};
use hookmitt_keys::Network;
use hookmitt_verify::{
    Context, Inquiry, Provider, Published, PublishedKeys, Secret, evidence, explain, judge, key_hosts,
    parse_public_key, providers, recognise,
};
use serde_json::json;

use crate::{edit::Param, failure::CliError, provider_name, secret_variable, verdict_report::VerdictReport};

/// What to judge by, instead of what the inbox knows.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Given {
    /// The sender: a provider's id, such as github
    #[arg(long, value_name = "P")]
    pub(crate) provider: Option<String>,
    /// The signature scheme; by default the signature header decides
    #[arg(long, value_name = "S")]
    pub(crate) scheme: Option<String>,
    /// Use the value of this environment variable as the secret; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) secret_env: Vec<String>,
    /// A public key: PEM, base64 SPKI, hex or base64 of 32 bytes, whpk_…, or JWK
    #[arg(long, value_name = "FILE")]
    pub(crate) public_key: Option<PathBuf>,
    /// A setting that isn't in the request, such as webhook_id=1; repeatable
    #[arg(long, value_name = "K=V")]
    pub(crate) param: Vec<Param>,
    /// The URL that the provider called, if it signs the URL
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Check timestamps as of this time; by default the time of receipt, or now for a raw message
    #[arg(long, value_name = "UNIX_SECONDS", allow_negative_numbers = true)]
    pub(crate) at: Option<i64>,
}

impl Given {
    /// Returns whether secrets or keys are given. If not, the API verifies a stored event with the source's own
    /// secrets.
    pub(crate) fn has_secrets(&self) -> bool {
        !self.secret_env.is_empty() || self.public_key.is_some()
    }

    /// Returns whether any option is given. If not, a stored event is judged as the inbox would judge it.
    pub(crate) fn is_given(&self) -> bool {
        let text = [&self.provider, &self.scheme, &self.url].into_iter().any(Option::is_some);
        text || self.at.is_some() || !self.param.is_empty() || self.has_secrets()
    }

    /// Returns the options as the API takes them, without secrets and keys.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let params: Vec<_> = self.param.iter().map(|Param(name, value)| (name, value)).collect();
        json!({ "at": self.at, "url": self.url, "provider": self.provider, "scheme": self.scheme, "params": params })
    }
}

/// A request to judge, and what is already known about it.
pub(crate) struct Subject {
    /// The request, byte for byte.
    pub(crate) request: Request,
    /// The provider, if one is stored with the event or fixture.
    pub(crate) provider: Option<String>,
    /// The URL that the provider called, if known.
    pub(crate) url: Option<String>,
    /// When the request was received; for a raw message, the current time.
    pub(crate) received_at: Timestamp,
    /// The source's own signing scheme, if it has one.
    pub(crate) generic: Option<GenericScheme>,
    /// How far a signed timestamp may be off, if the source sets that.
    pub(crate) tolerance: Option<Duration>,
    /// The source's signature parameters.
    pub(crate) params: BTreeMap<String, String>,
}

/// Judges a request with the given options. Fetches the provider's published key if the verdict needs it.
pub(crate) async fn find(subject: &Subject, given: &Given) -> Result<VerdictReport, CliError> {
    let provider = who(subject, given)?;
    let generic = subject.generic.as_ref().filter(|_| given.provider.is_none() && given.scheme.is_none());
    if provider.is_none() && generic.is_none() {
        let hint = "name the provider, such as --provider github";
        return Err(CliError::bad_input_with("no-provider", "the headers don't show the provider", hint));
    }
    let mut secrets = Vec::new();
    for name in &given.secret_env {
        secrets.push(Secret::new(secret_variable::label_of(name), secret_variable::secret_of(name)?));
    }
    let key = given.public_key.as_deref().map(public_key).transpose()?;
    secrets.extend(key);
    let mut params = subject.params.clone();
    params.extend(given.param.iter().map(|Param(name, value)| (name.clone(), value.clone())));
    let params: Vec<_> = params.into_iter().collect();
    let mut inquiry = Inquiry {
        request: &subject.request,
        url: given.url.as_deref().or(subject.url.as_deref()),
        provider,
        generic,
        scheme: given.scheme.as_deref(),
        secrets: &secrets,
        tolerance: subject.tolerance,
        at: given.at.map_or(subject.received_at, Timestamp::from_seconds),
        params: &params,
        published: None,
    };
    let mut judgement = judge(&inquiry);
    let asked;
    if let Some(wanted) = judgement.wanted.take() {
        asked = Asked::of(wanted.url).await;
        inquiry.published = Some(&asked);
        judgement = judge(&inquiry);
    }
    if matches!(judgement.verdict, Verdict::Invalid | Verdict::Unsigned) {
        judgement.causes = explain(&inquiry, &Context::default()).kept_causes();
    }
    Ok(VerdictReport {
        verdict: judgement.verdict,
        provider: provider.map(|provider| provider.id.clone()),
        scheme: judgement.scheme.map(str::to_owned),
        uncovered: evidence(&inquiry, &judgement).uncovered,
        secret_label: judgement.secret_label,
        causes: judgement.causes,
    })
}

/// A published key that was fetched for this verdict.
struct Asked {
    url: String,
    found: Published,
}

impl Asked {
    async fn of(url: String) -> Self {
        let found = hookmitt_keys::ask(&Network::default(), &key_hosts(), &url).await;
        Self { url, found }
    }
}

impl PublishedKeys for Asked {
    fn find(&self, url: &str, _kid: Option<&str>) -> Published {
        if url == self.url { self.found.clone() } else { Published::Awaited }
    }
}

/// Returns the given provider. Without one, returns the stored provider, else the recognised one; but if a scheme is
/// given that this provider doesn't have, returns the first provider that has the scheme.
///
/// # Errors
/// Fails if the given provider or scheme is unknown.
fn who(subject: &Subject, given: &Given) -> Result<Option<&'static Provider>, CliError> {
    let of_scheme = given.scheme.as_deref().map(of_scheme).transpose()?;
    if let Some(id) = &given.provider {
        return provider_name::find(id).map(Some);
    }
    let known = subject.provider.as_deref().and_then(hookmitt_verify::provider);
    let known = known.or_else(|| recognise(&subject.request));
    match &given.scheme {
        Some(id) if known.is_none_or(|provider| provider.scheme(id).is_none()) => Ok(of_scheme),
        _ => Ok(known),
    }
}

fn of_scheme(id: &str) -> Result<&'static Provider, CliError> {
    providers().find(|provider| provider.scheme(id).is_some()).ok_or_else(|| {
        let message = format!("there is no scheme {}", Plain(id));
        CliError::bad_input_with("unknown-scheme", message, "a provider's id selects its usual scheme")
    })
}

/// Reads a public key from a file.
fn public_key(path: &Path) -> Result<Secret, CliError> {
    let bytes = fs::read(path).map_err(|source| CliError::file(path, source))?;
    let label = format!("file:{}", path.file_name().unwrap_or_default().to_string_lossy());
    let key = parse_public_key(&bytes).map_err(|error| CliError::explained(&error))?;
    Ok(Secret::public_key(label, key))
}
