//! The text that Amazon SNS signs: some fields of its envelope, each on two lines (npm:sns-validator@0.3.5; "Verifying
//! the signatures of Amazon SNS messages").

use serde_json::{Map, Value};

use crate::json_duplicates::has_duplicate_names;

/// The signed fields in order. Absent fields are left out.
const OF_NOTIFICATIONS: &[&str] =
    &["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "TopicArn", "Type"];
const OF_CONFIRMATIONS: &[&str] =
    &["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/// The fields that every envelope has.
const NEEDED: &[&str] =
    &["Message", "MessageId", "Timestamp", "TopicArn", "Type", "Signature", "SigningCertURL"];
const NEEDED_TO_CONFIRM: &[&str] = &["SubscribeURL", "Token"];

/// Why a body is not an envelope that SNS signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvelopeFault {
    /// The body is not a JSON object: raw message delivery, which is not signed, or something else.
    NoEnvelope,
    /// The envelope repeats a field, so that readers could differ in which value is the signed one.
    Twice,
    /// A field that every envelope of this type has is absent.
    Missing(&'static str),
}

/// Returns the signed text.
///
/// Values are decoded from JSON, so the signature still matches an envelope that was serialised again. An absent
/// Subject is left out, not signed as empty.
pub(crate) fn signed_text(body: &[u8]) -> Result<String, EnvelopeFault> {
    let envelope: Map<String, Value> = serde_json::from_slice(body).map_err(|_| EnvelopeFault::NoEnvelope)?;
    if has_duplicate_names(body, true) {
        return Err(EnvelopeFault::Twice);
    }
    let field = |name: &str| envelope.get(name).and_then(Value::as_str);
    let confirms = matches!(field("Type"), Some("SubscriptionConfirmation" | "UnsubscribeConfirmation"));
    let to_confirm = if confirms { NEEDED_TO_CONFIRM } else { &[] };
    if let Some(name) = NEEDED.iter().chain(to_confirm).find(|name| field(name).is_none()) {
        return Err(EnvelopeFault::Missing(name));
    }
    let names = if confirms { OF_CONFIRMATIONS } else { OF_NOTIFICATIONS };
    let mut text = String::new();
    for (name, value) in names.iter().filter_map(|name| Some((name, field(name)?))) {
        text.extend([name, "\n", value, "\n"]);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTIFICATION: &str = r#"{"Type":"Notification","MessageId":"m","TopicArn":"arn:t","Message":"a\nb \u00e9",
        "Timestamp":"2026-01-02T03:04:05.678Z","SignatureVersion":"2","Signature":"x","SigningCertURL":"https://x",
        "UnsubscribeURL":"https://u"}"#;

    #[test]
    fn the_fields_that_are_there_are_signed_in_their_order() {
        let text = "Message\na\nb é\nMessageId\nm\nTimestamp\n2026-01-02T03:04:05.678Z\nTopicArn\narn:t\n";
        let plain = format!("{text}Type\nNotification\n");
        assert_eq!(signed_text(NOTIFICATION.as_bytes()), Ok(plain.clone()));
        let compact: Value = serde_json::from_str(NOTIFICATION).unwrap();
        assert_eq!(signed_text(compact.to_string().as_bytes()), Ok(plain));
        let with_subject = NOTIFICATION.replacen('{', r#"{"Subject":"","#, 1);
        assert!(signed_text(with_subject.as_bytes()).unwrap().contains("MessageId\nm\nSubject\n\nTimestamp"));
        let confirmation = NOTIFICATION
            .replacen('{', r#"{"Token":"k","SubscribeURL":"https://s","Subject":"not signed here","#, 1)
            .replace(r#""Notification""#, r#""SubscriptionConfirmation""#);
        let text = signed_text(confirmation.as_bytes()).unwrap();
        assert!(text.contains("SubscribeURL\nhttps://s\nTimestamp\n"), "{text}");
        assert!(text.contains("Token\nk\nTopicArn\narn:t\nType\nSubscriptionConfirmation\n"), "{text}");
        assert!(!text.contains("Subject"), "{text}");
    }

    #[test]
    fn what_is_no_envelope_says_so() {
        for body in ["", "plain text", "[]", "\"x\""] {
            assert_eq!(signed_text(body.as_bytes()), Err(EnvelopeFault::NoEnvelope), "{body}");
        }
        for twice in [r#""TopicArn":"arn:other","#, r#""message":"forged","#] {
            let body = NOTIFICATION.replacen('{', &format!("{{{twice}"), 1);
            assert_eq!(signed_text(body.as_bytes()), Err(EnvelopeFault::Twice), "{twice}");
        }
        for name in ["MessageId", "TopicArn", "Signature", "SigningCertURL"] {
            let body = NOTIFICATION.replace(&format!("\"{name}\""), "\"Other\"");
            assert_eq!(signed_text(body.as_bytes()), Err(EnvelopeFault::Missing(name)), "{name}");
        }
        let confirmation = NOTIFICATION.replace(r#""Notification""#, r#""UnsubscribeConfirmation""#);
        assert_eq!(signed_text(confirmation.as_bytes()), Err(EnvelopeFault::Missing("SubscribeURL")));
    }
}
