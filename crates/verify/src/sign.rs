//! Signs a request as its provider would.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use hookmitt_event::{Explain, GenericScheme, HeaderError, HeaderLines, Request, Timestamp};

use crate::{
    Provider, VerifyError,
    content::Parts,
    generic,
    mac::Mac,
    probe,
    scheme::{Algorithm, Format, Scheme},
    secret::{decode_base64, key_bytes},
};

/// A request that can't be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The provider's scheme is not supported.
    #[error("signing as {0} is not supported yet")]
    Unsupported(String),
    /// Without a secret there is nothing to sign with.
    #[error("the secret is empty")]
    EmptySecret,
    /// A secret that is no key of this scheme.
    #[error("the secret is no key of {0}")]
    BadSecret(String),
    /// The generic settings don't say how to sign.
    #[error(transparent)]
    Settings(#[from] VerifyError),
    /// The id is signed, the request has none, and none was given.
    #[error("{0} signs an id, and the request has none")]
    IdNeeded(String),
    /// Something that can't stand in a header.
    #[error(transparent)]
    Header(#[from] HeaderError),
}

impl Explain for SignError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "unsupported-scheme",
            Self::EmptySecret | Self::BadSecret(_) => "bad-secret",
            Self::Settings(error) => error.code(),
            Self::IdNeeded(_) => "id-needed",
            Self::Header(_) => "bad-header",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Settings(error) => error.hint(),
            Self::BadSecret(_) => {
                Some("use the signing secret as the provider shows it, such as whsec_…".to_owned())
            }
            Self::EmptySecret => Some("give a secret, or use the public test secret".to_owned()),
            Self::IdNeeded(_) => Some("ask for a fresh id".to_owned()),
            Self::Unsupported(_) | Self::Header(_) => None,
        }
    }
}

/// The request with fresh signature and timestamp lines, in the place of the old ones or else at the end; all other
/// lines and the body stay as they are.
///
/// With `fresh_id` the provider's id header gets that id (with the provider's own prefix, such as `msg_`). A key that
/// begins with `whsk_` signs Standard Webhooks with Ed25519. A legacy signature that is there is renewed too.
///
/// # Errors
/// [`SignError`], each with what to do about it.
pub fn sign(
    provider: &'static Provider,
    generic: Option<&GenericScheme>,
    secret: &[u8],
    request: &Request,
    at: Timestamp,
    fresh_id: Option<&str>,
) -> Result<Request, SignError> {
    if secret.is_empty() {
        return Err(SignError::EmptySecret);
    }
    if let Some(scheme) = generic.map(generic::compile).transpose()?.flatten() {
        return Signing { scheme: &scheme, sender: "the source", at, secret }.sign(request);
    }
    let mut signed = match fresh_id.zip(provider.sample.as_ref()) {
        Some((id, sample)) if !sample.id_header.is_empty() => {
            with_line(request, &provider.id_header(request, sample), &format!("{}{id}", sample.id_prefix))?
        }
        _ => request.clone(),
    };
    let private = secret.starts_with(b"whsk_");
    let suited = |scheme: &&Scheme| scheme.is_supported() && scheme.takes_public_key() == private;
    let mut schemes = provider.schemes.iter().filter(suited);
    let first = schemes.next().ok_or_else(|| SignError::Unsupported(provider.name.clone()))?;
    signed = Signing { scheme: first, sender: &provider.name, at, secret }.sign(&signed)?;
    for legacy in schemes.filter(|legacy| request.headers.has(legacy.signature_header())) {
        signed = Signing { scheme: legacy, sender: &provider.name, at, secret }.sign(&signed)?;
    }
    Ok(signed)
}

impl Provider {
    /// The name of the id header, in the family that the request already uses.
    fn id_header(&self, request: &Request, sample: &crate::sample::SampleHead) -> String {
        let family = self.schemes.first().map(|scheme| scheme.headers.id.as_slice()).unwrap_or_default();
        let used = family.iter().find(|name| request.headers.has(name));
        used.or(family.first()).cloned().unwrap_or_else(|| sample.id_header.clone())
    }
}

struct Signing<'a> {
    scheme: &'a Scheme,
    sender: &'a str,
    at: Timestamp,
    secret: &'a [u8],
}

impl Signing<'_> {
    fn sign(&self, request: &Request) -> Result<Request, SignError> {
        let scheme = self.scheme;
        let names = &scheme.headers;
        let family = names.signature.iter().position(|name| request.headers.has(name)).unwrap_or(0);
        let of_family = |names: &[String]| names.get(family).or(names.first()).cloned();
        let seconds = self.at.as_seconds().to_string();
        let id =
            of_family(&names.id).and_then(|name| request.headers.get(&name)).unwrap_or_default().to_vec();
        if scheme.content.has_id() && id.is_empty() {
            return Err(SignError::IdNeeded(self.sender.to_owned()));
        }
        let parts = Parts { id: &id, timestamp: seconds.as_bytes(), body: &request.body };
        let value = self.header_value(&parts, &seconds)?;
        let mut signed = request.clone();
        if let Some(name) = of_family(&names.timestamp).filter(|_| scheme.content.has_timestamp()) {
            signed = with_line(&signed, &name, &seconds)?;
        }
        let name = of_family(&names.signature).unwrap_or_default();
        Ok(with_line(&signed, &name, &value)?)
    }

    fn header_value(&self, parts: &Parts<'_>, seconds: &str) -> Result<String, SignError> {
        let scheme = self.scheme;
        let tag = self.tag(parts)?;
        Ok(match scheme.format {
            Format::Plain => format!("{}{tag}", scheme.prefix),
            Format::Fields => format!("t={seconds},{}={tag}", scheme.version),
            Format::List => format!("{},{tag}", scheme.version),
        })
    }

    fn tag(&self, parts: &Parts<'_>) -> Result<String, SignError> {
        let scheme = self.scheme;
        let bad = || SignError::BadSecret(self.sender.to_owned());
        match scheme.algorithm {
            Algorithm::Unsupported => Err(SignError::Unsupported(self.sender.to_owned())),
            Algorithm::Token => String::from_utf8(self.secret.to_vec()).map_err(|_| bad()),
            Algorithm::Ed25519 => {
                let seed = decode_base64(self.secret.strip_prefix(b"whsk_").unwrap_or(self.secret))
                    .ok_or_else(bad)?;
                // The seed alone, or the seed and the public key after it.
                let seed: &[u8; 32] = seed.first_chunk().ok_or_else(bad)?;
                let mut message = Vec::new();
                scheme.content.feed(parts, |bytes| message.extend_from_slice(bytes));
                Ok(STANDARD.encode(SigningKey::from_bytes(seed).sign(&message).to_bytes()))
            }
            _ => {
                let key = key_bytes(self.secret, scheme.key).ok_or_else(bad)?;
                let mac = Mac::new(scheme.algorithm, &key).ok_or_else(bad)?;
                let tag = probe::tag(scheme, mac, parts).finish(scheme.encoding);
                Ok(String::from_utf8_lossy(tag.as_bytes()).into_owned())
            }
        }
    }
}

/// The request with one line of that name and value: in the place of the first such line, or at the end. The case of
/// a name that is there stays.
fn with_line(request: &Request, name: &str, value: &str) -> Result<Request, HeaderError> {
    let mut block = Vec::with_capacity(request.headers.as_wire().len() + name.len() + value.len() + 4);
    let mut line = |line: &[&[u8]]| {
        line.iter().for_each(|part| block.extend_from_slice(part));
        block.extend_from_slice(b"\r\n");
    };
    let mut done = false;
    for old in request.headers.iter() {
        if !old.name.eq_ignore_ascii_case(name) {
            line(&[old.line]);
        } else if !done {
            line(&[old.name.as_bytes(), b": ", value.as_bytes()]);
            done = true;
        }
    }
    if !done {
        line(&[name.as_bytes(), b": ", value.as_bytes()]);
    }
    // A value with a line break in it would become two lines: check it alone first.
    HeaderLines::from_pairs([(name, value)])?;
    let headers = HeaderLines::from_wire(block.into())?;
    Ok(Request { headers, ..request.clone() })
}
