//! The flags for a source's settings, and the change that is sent to the API for them.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::source_answer::AnswerFlags;
use crate::{
    edit::{Param, text_or_null},
    failure::CliError,
    moment::Span,
    provider_name, shared_scheme,
};

/// What is done with a bad signature.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnInvalid {
    /// Answered as usual, stored, and forwarded with its verdict
    Record,
    /// Answered 401, stored, never forwarded
    Reject,
}

/// What is done with a repeat.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnDuplicate {
    /// Not forwarded while its first is on its way, or after it was delivered
    Skip,
    /// Forwarded like any other
    Forward,
}

/// Settings of a source. For `edit`, an empty text unsets one.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Settings {
    /// The provider's id, such as github; by default detected from the headers
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// What to do if a signature is invalid or missing
    #[arg(long, value_enum)]
    on_invalid: Option<OnInvalid>,
    /// What to do with a duplicate
    #[arg(long, value_enum)]
    on_duplicate: Option<OnDuplicate>,
    /// The URL that the provider calls, if hookmitt is behind a proxy
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A host name to accept for GET and HEAD requests, such as that of a tunnel you started yourself; repeatable
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// No longer accept a host name; repeatable
    #[arg(long, value_name = "NAME")]
    disallow_host: Vec<String>,
    /// How old a signed timestamp may be, such as 5m
    #[arg(long, value_name = "D")]
    tolerance: Option<String>,
    /// A setting that isn't in the provider's requests, such as webhook_id=1; 'K=' unsets it; repeatable
    #[arg(long, value_name = "K=V")]
    param: Vec<Param>,
    /// Whether to confirm genuine set-up requests that ask for a URL to be called (Amazon SNS) without asking
    #[arg(long, value_name = "BOOL")]
    confirm: Option<bool>,
    #[command(flatten, next_help_heading = "How senders are answered")]
    answer: AnswerFlags,
    #[command(
        flatten,
        next_help_heading = "Custom signing scheme, for senders that aren't in the catalogue"
    )]
    generic: GenericFlags,
}

#[derive(Debug, Default, clap::Args)]
struct GenericFlags {
    /// The header that carries the signature, such as X-Signature
    #[arg(long, value_name = "NAME")]
    sign_header: Option<String>,
    /// Where the signature is, if not in a header of its own: /json/pointer, form:field or query:name
    #[arg(long, value_name = "PLACE")]
    sign_at: Option<String>,
    /// hmac-sha256, hmac-sha1, hmac-sha512, sha256, ed25519, ecdsa-p256-sha256, rsa-sha256, or token for plain equality
    #[arg(long, value_name = "A")]
    sign_algorithm: Option<String>,
    /// hex, base64 or base64url
    #[arg(long, value_name = "E")]
    sign_encoding: Option<String>,
    /// The text before the signature, such as sha256=
    #[arg(long, value_name = "TEXT")]
    sign_prefix: Option<String>,
    /// plain (prefix and signature), fields (t=…,v1=…) or list (v1,… v1,…)
    #[arg(long, value_name = "F")]
    sign_format: Option<String>,
    /// The field or tag that carries the signature, such as v1
    #[arg(long, value_name = "NAME")]
    sign_version: Option<String>,
    /// The character between fields; by default a comma
    #[arg(long, value_name = "LETTER")]
    sign_separator: Option<String>,
    /// What is signed, with the placeholders {body}, {timestamp}, {id}, {url}, {method} or any place in braces
    #[arg(long, value_name = "TEMPLATE")]
    sign_content: Option<String>,
    /// How the secret becomes a key: utf8, base64, hex or whsec
    #[arg(long, value_name = "K")]
    sign_key: Option<String>,
    /// The header that carries the signed timestamp
    #[arg(long, value_name = "NAME")]
    timestamp_header: Option<String>,
    /// Where the timestamp is, if not in a header of its own: field:t (of the signature header) or /json/pointer
    #[arg(long, value_name = "PLACE")]
    timestamp_at: Option<String>,
    /// s, ms or rfc3339
    #[arg(long, value_name = "U")]
    timestamp_unit: Option<String>,
    /// Where an event's id is: /json/pointer or header:Name
    #[arg(long, value_name = "PLACE")]
    id_at: Option<String>,
    /// Where its type is
    #[arg(long, value_name = "PLACE")]
    type_at: Option<String>,
    /// Where its time is
    #[arg(long, value_name = "PLACE")]
    time_at: Option<String>,
    /// Where the key of its object is
    #[arg(long, value_name = "PLACE")]
    object_at: Option<String>,
    /// Where a title for people is
    #[arg(long, value_name = "PLACE")]
    title_at: Option<String>,
    /// Read all of these from a file that `source show SLUG --scheme` wrote; other flags override it
    #[arg(long, value_name = "FILE")]
    scheme_file: Option<PathBuf>,
}

impl Settings {
    /// Whether the flags allow a host, so that events withheld under its name may be sent now.
    pub(crate) fn allows_hosts(&self) -> bool {
        !self.allow_host.is_empty()
    }

    /// Returns the change that the flags ask for. `before` is the source as it is, or null if it is new. Settings that
    /// weren't given are left out.
    pub(crate) fn change(&self, before: &Value) -> Result<Map<String, Value>, CliError> {
        let mut change = Map::new();
        if let Some(id) = &self.provider {
            let known = if id.is_empty() { None } else { Some(provider_name::find(id)?.id.as_str()) };
            change.insert("provider".to_owned(), json!(known));
        }
        if let Some(on_invalid) = self.on_invalid {
            let name = match on_invalid {
                OnInvalid::Record => "record",
                OnInvalid::Reject => "reject",
            };
            change.insert("on_invalid".to_owned(), json!(name));
        }
        if let Some(on_duplicate) = self.on_duplicate {
            let name = match on_duplicate {
                OnDuplicate::Skip => "skip",
                OnDuplicate::Forward => "forward",
            };
            change.insert("on_duplicate".to_owned(), json!(name));
        }
        if let Some(url) = &self.public_url {
            change.insert("public_url".to_owned(), text_or_null(url));
        }
        if let Some(tolerance) = &self.tolerance {
            change.insert("tolerance_s".to_owned(), seconds(tolerance)?);
        }
        if !self.allow_host.is_empty() || !self.disallow_host.is_empty() {
            let allowed = self.allow_host.iter().map(|name| (name.clone(), Value::Bool(true)));
            let taken_back = self.disallow_host.iter().map(|name| (name.clone(), Value::Bool(false)));
            change.insert("allowed_hosts".to_owned(), Value::Object(allowed.chain(taken_back).collect()));
        }
        if let Some(confirm) = self.confirm {
            change.insert("confirm".to_owned(), json!(confirm));
        }
        if !self.param.is_empty() {
            let params = self.param.iter().map(|Param(name, value)| (name.clone(), text_or_null(value)));
            change.insert("params".to_owned(), Value::Object(params.collect()));
        }
        let answer = self.answer.fields()?;
        if !answer.is_empty() {
            change.insert("answer".to_owned(), Value::Object(answer));
        }
        let shared = self.generic.scheme_file.as_deref().map(shared_scheme::read).transpose()?;
        let before = shared.as_ref().map_or_else(|| before.clone(), |scheme| json!(scheme));
        for (name, value) in shared.into_iter().flatten() {
            change.entry(name).or_insert(value);
        }
        merge(&mut change, "generic", &before, self.generic.fields());
        Ok(change)
    }
}

impl GenericFlags {
    fn fields(&self) -> Map<String, Value> {
        let given = [
            ("signature_header", &self.sign_header),
            ("signature_at", &self.sign_at),
            ("format", &self.sign_format),
            ("version", &self.sign_version),
            ("separator", &self.sign_separator),
            ("key", &self.sign_key),
            ("timestamp_at", &self.timestamp_at),
            ("timestamp_unit", &self.timestamp_unit),
            ("title_at", &self.title_at),
            ("algorithm", &self.sign_algorithm),
            ("encoding", &self.sign_encoding),
            ("prefix", &self.sign_prefix),
            ("signed_content", &self.sign_content),
            ("timestamp_header", &self.timestamp_header),
            ("id_at", &self.id_at),
            ("type_at", &self.type_at),
            ("time_at", &self.time_at),
            ("object_at", &self.object_at),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        given.map(|(name, value)| (name.to_owned(), text_or_null(value))).collect()
    }
}

/// Merges the given fields into the group as it was before, because the API takes this group as a whole.
fn merge(change: &mut Map<String, Value>, group: &str, before: &Value, fields: Map<String, Value>) {
    if fields.is_empty() {
        return;
    }
    let mut whole = before[group].as_object().cloned().unwrap_or_default();
    whole.extend(fields);
    change.insert(group.to_owned(), Value::Object(whole));
}

fn seconds(text: &str) -> Result<Value, CliError> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let span: Span = text.parse().map_err(|message: String| CliError::bad_input("bad-duration", message))?;
    Ok(json!(span.0.as_secs()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        settings: Settings,
    }

    fn change(typed: &[&str], before: &Value) -> Result<Value, CliError> {
        let typed = ["edit"].into_iter().chain(typed.iter().copied());
        Typed::parse_from(typed).settings.change(before).map(Value::Object)
    }

    #[test]
    fn what_was_not_given_is_absent_and_an_empty_text_unsets() {
        assert_eq!(change(&[], &Value::Null).unwrap(), json!({}));
        let typed = ["--provider", "", "--public-url", "", "--tolerance", "", "--on-invalid", "reject"];
        let expected =
            json!({"provider": null, "public_url": null, "tolerance_s": null, "on_invalid": "reject"});
        assert_eq!(change(&typed, &Value::Null).unwrap(), expected);
        let typed = ["--allow-host", "a.example", "--disallow-host", "b.example"];
        let expected = json!({"allowed_hosts": {"a.example": true, "b.example": false}});
        assert_eq!(change(&typed, &Value::Null).unwrap(), expected);
        let typed = ["--param", "webhook_id=a=b", "--param", "topic="];
        let expected = json!({"params": {"webhook_id": "a=b", "topic": null}});
        assert_eq!(change(&typed, &Value::Null).unwrap(), expected);
    }

    #[test]
    fn a_group_keeps_what_it_had() {
        let before = json!({"answer": {"status": 201}, "generic": {"prefix": "v1="}});
        let typed = ["--answer-delay", "2s", "--sign-header", "X-Sig", "--tolerance", "5m"];
        let expected = json!({
            "tolerance_s": 300,
            "answer": {"delay_ms": 2000},
            "generic": {"prefix": "v1=", "signature_header": "X-Sig"},
        });
        assert_eq!(change(&typed, &before).unwrap(), expected);
    }

    #[test]
    fn who_answers_is_the_source_s_choice_and_hookmitt_s_without_one() {
        for (typed, name) in [("app", json!("app")), ("stored", json!("stored")), ("auto", Value::Null)] {
            let expected = json!({"answer": {"respond": name}});
            assert_eq!(change(&["--respond", typed], &Value::Null).unwrap(), expected);
        }
    }

    #[test]
    fn bad_settings_are_bad_input() {
        for typed in [["--provider", "githbu"], ["--tolerance", "5 minutes"], ["--answer-status", "99"]] {
            assert!(change(&typed, &Value::Null).is_err(), "{typed:?}");
        }
    }
}
