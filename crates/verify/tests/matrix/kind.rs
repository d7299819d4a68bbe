//! The headers of each provider, written down again independently of the catalogue.

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookmitt_event::Request;

use super::{SIGNED_AT, pairs, with_header};

/// The headers of a subject, independent of the catalogue.
pub(super) struct Kind {
    pub(super) signature: &'static str,
    pub(super) timestamp: Option<&'static str>,
    pub(super) prefix: &'static str,
    pub(super) other_prefix: &'static str,
    pub(super) content: &'static str,
    hex: bool,
}

impl Kind {
    pub(super) fn of(id: &str) -> Self {
        let (signature, timestamp, prefix, other_prefix, content, hex) = match id {
            "github" => ("hub-signature", None, "sha256=", "v1=", "{body}", true),
            "stripe" => ("stripe-signature", Some("stripe-signature"), "v1=", "v2=", "{ts}.{body}", true),
            "slack" => ("slack-signature", Some("timestamp"), "v0=", "v1=", "v0:{ts}:{body}", true),
            "shopify" => ("hmac-sha256", None, "", "", "{body}", false),
            _ => ("-signature", Some("-timestamp"), "v1,", "v2,", "{id}.{ts}.{body}", false),
        };
        Self { signature, timestamp, prefix, other_prefix, content, hex }
    }

    /// Returns the same request, signed with these key bytes.
    pub(super) fn resigned(&self, request: &Request, key: &[u8]) -> Request {
        let id = pairs(request).into_iter().find(|(name, _)| name.ends_with("-id")).map(|(_, id)| id);
        let body = std::str::from_utf8(&request.body).unwrap();
        let content =
            self.content.replace("{id}", &id.unwrap_or_default()).replace("{ts}", &SIGNED_AT.to_string());
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).unwrap();
        mac.update(content.replace("{body}", body).as_bytes());
        let tag = mac.finalize().into_bytes();
        let text = if self.hex { hex::encode(tag) } else { base64(&tag) };
        with_header(request, self.signature, |_| Some(format!("{}{text}", self.prefix)))
    }

    /// Returns a header value with its signature in hex instead of base64, or the other way round.
    pub(super) fn reencoded(&self, value: &str) -> String {
        let at =
            if self.prefix.is_empty() { 0 } else { value.find(self.prefix).unwrap() + self.prefix.len() };
        let (head, tag) = value.split_at(at);
        let engine = &base64::engine::general_purpose::STANDARD;
        let other = if self.hex {
            base64(&hex::decode(tag).unwrap())
        } else {
            hex::encode(base64::Engine::decode(engine, tag).unwrap())
        };
        format!("{head}{other}")
    }
}

fn base64(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes)
}
