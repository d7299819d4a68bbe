//! Finds the key that verifies an asymmetric scheme: supplied by a person, or published by the provider (Threat 6).

use hookmitt_event::{Cause, Verdict};

use crate::{
    cause::{self, cause},
    inquiry::Inquiry,
    jwt_scheme,
    key_url::{allowed, names_provider},
    place::Place,
    published::{Published, WantedKey},
    secret::Secret,
    signature::Signed,
};

/// The key that a signature can be verified with.
#[derive(Debug)]
pub(crate) enum KeySource {
    /// The configured secrets and keys.
    Configured,
    /// A key that the provider published.
    Published(Secret),
    /// No key can be used, so the verdict is this one.
    Nothing { verdict: Verdict, cause: Cause, wanted: Option<WantedKey> },
}

impl KeySource {
    fn nothing(verdict: Verdict, cause: Cause) -> Self {
        Self::Nothing { verdict, cause, wanted: None }
    }
}

/// Finds the key. If the request names a key on a host that isn't the provider's, the event is invalid, whatever signed
/// it.
pub(crate) fn find(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> KeySource {
    let scheme = signed.scheme;
    let Some(place) = scheme.key_url.as_ref().filter(|_| scheme.takes_public_key()) else {
        return KeySource::Configured;
    };
    let supplied = inquiry.secrets.iter().any(|secret| secret.suits(scheme));
    let url = url_at(place, signed);
    match &url {
        Some(url) => {
            if let Err(why) = allowed(url, &scheme.key_hosts) {
                return KeySource::nothing(Verdict::Invalid, untrusted_url(sender, url, &why.to_string()));
            }
        }
        None if supplied => {}
        None => {
            let place = Place::try_from(place.clone()).ok();
            let cause = cause::part_missing(sender, "URL of its key", place.as_ref());
            return KeySource::nothing(Verdict::Invalid, cause);
        }
    }
    if let Some(setting) = unset(signed) {
        return KeySource::nothing(Verdict::NoSecret, setting_needed(sender, &setting));
    }
    match url.filter(|_| !supplied) {
        Some(url) => published(inquiry, signed, sender, url),
        None => KeySource::Configured,
    }
}

fn published(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str, url: String) -> KeySource {
    let kid = jwt_scheme::key_id(signed).filter(|_| signed.scheme.algorithm.is_jwt());
    let found = inquiry.published.map(|keys| keys.find(&url, kid.as_deref()));
    let wanted = WantedKey { url, kid };
    match found {
        Some(Published::Key(key)) => KeySource::Published(Secret::public_key(host(&wanted.url), key)),
        Some(Published::Awaited) => KeySource::Nothing {
            verdict: Verdict::Pending,
            cause: cause(
                "key_pending",
                format!("{sender}'s key is being fetched from {}.", wanted.url),
                "Wait a moment, or provide the key as a file to verify at once.",
            ),
            wanted: Some(wanted),
        },
        Some(Published::Unavailable(why)) => unavailable(sender, &why, wanted),
        None => unavailable(sender, "keys aren't fetched here", wanted),
    }
}

fn unavailable(sender: &str, why: &str, wanted: WantedKey) -> KeySource {
    KeySource::Nothing {
        verdict: Verdict::Unsupported,
        cause: cause(
            "key_unavailable",
            format!("{sender}'s key at {} couldn't be fetched: {why}.", wanted.url),
            "Download the key yourself and provide it as a file (--public-key).",
        ),
        wanted: Some(wanted),
    }
}

/// Returns why an event isn't genuine although the key matches: its certificate names another domain, the key is no
/// longer in use, or the topic is another one.
pub(crate) fn objection(
    inquiry: &Inquiry<'_>,
    signed: &Signed<'_>,
    secret: &Secret,
    sender: &str,
) -> Option<Cause> {
    let scheme = signed.scheme;
    let key = secret.as_public().filter(|_| scheme.takes_public_key())?;
    let kid = jwt_scheme::key_id(signed).filter(|_| scheme.algorithm.is_jwt());
    if let Some(certificate) = key.certificate(kid.as_deref())
        && !names_provider(certificate.common_name.as_deref(), &scheme.key_hosts)
    {
        let name = certificate.common_name.clone().unwrap_or_default();
        return Some(cause(
            "untrusted_key",
            format!("The certificate was issued to {name:?}, which isn't in {sender}'s domain."),
            format!("Use the certificate that {sender} publishes."),
        ));
    }
    if key.ended(kid.as_deref(), inquiry.at) {
        return Some(cause(
            "untrusted_key",
            format!("The key matches, but {sender} no longer used it when this was received."),
            format!("Use the key that {sender} publishes now."),
        ));
    }
    wrong_topic(signed, sender)
}

/// Amazon signs all customers' topics with the same key, so only the configured topic counts.
fn wrong_topic(signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let configured = signed.scheme.topic_setting().and_then(|name| signed.parts.view.param(name))?;
    let place = Place::try_from("/TopicArn".to_owned()).ok()?;
    let found = place.read(&signed.parts.view).unwrap_or_default();
    (found != configured.as_bytes()).then(|| {
        cause(
            "wrong_configuration",
            format!(
                "{sender} signed this for the topic {}, not for {configured}.",
                String::from_utf8_lossy(&found)
            ),
            "Set the source's topic_arn to the subscribed topic.",
        )
    })
}

/// Returns a missing setting without which a good signature proves nothing. A provider signs for all its customers with
/// the same published key, so even a supplied copy of that key doesn't say whose events these are.
fn unset(signed: &Signed<'_>) -> Option<String> {
    let mut needed = signed.scheme.needed_settings();
    needed.find(|name| signed.parts.view.param(name).is_none()).map(str::to_owned)
}

fn setting_needed(sender: &str, setting: &str) -> Cause {
    cause(
        "wrong_configuration",
        format!(
            "{sender} signs for all of its customers with one key: without {setting}, nothing shows that this is \
             yours."
        ),
        format!(
            "Set the source's {setting} (`hookmitt source edit SLUG --param {setting}=…`; `verify` takes --param, too)."
        ),
    )
}

fn untrusted_url(sender: &str, url: &str, why: &str) -> Cause {
    cause(
        "untrusted_key",
        format!("The request says its key is at {url:?}, but {sender} doesn't publish keys there: {why}."),
        format!("Get {sender}'s key only from {sender}'s own hosts, over https."),
    )
}

/// Returns the URL of the key: written in the catalogue, or read from the request.
fn url_at(text: &str, signed: &Signed<'_>) -> Option<String> {
    if text.starts_with("https://") {
        return Some(text.to_owned());
    }
    let place = Place::try_from(text.to_owned()).ok()?;
    let found = place.read(&signed.parts.view)?;
    Some(String::from_utf8_lossy(&found).into_owned())
}

fn host(url: &str) -> String {
    url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
