//! Sources without a catalogue provider: their settings as a scheme.

use hookmitt_event::{Explain, GenericScheme, HeaderLines};

use crate::{
    content::{ContentError, SignedContent},
    place::{Place, PlaceError},
    places::{FactPlaces, Plan},
    scheme::{Algorithm, Clock, Encoding, KeyMode, Scheme, TimeUnit},
};

/// The id that a verdict names for a generic scheme.
pub(crate) const ID: &str = "generic";

/// Seconds that a generic source's timestamp may be off, in either direction, unless the source says otherwise.
const TOLERANCE_S: u32 = 300;

/// A generic scheme that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// No such algorithm.
    #[error("unknown algorithm {0:?}")]
    Algorithm(String),
    /// No such encoding.
    #[error("unknown encoding {0:?}")]
    Encoding(String),
    /// A name that no header can have.
    #[error("{0:?} can't be a header name")]
    Header(String),
    /// A place that can't be read.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A template with an unknown place.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The body is not covered.
    #[error("the signed content leaves the body out")]
    NoBody,
    /// The timestamp is signed, and nothing says where it is.
    #[error("the timestamp is signed, but no timestamp header is set")]
    NoTimestamp,
    /// The id is signed, and nothing says where it is.
    #[error("the id is signed, but no header for it is set")]
    NoId,
    /// Signing settings without a signature header.
    #[error("no signature header is set")]
    NoSignature,
}

impl Explain for VerifyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Algorithm(_) => "bad-algorithm",
            Self::Encoding(_) => "bad-encoding",
            Self::Header(_) => "bad-header-name",
            Self::Place(_) => "bad-place",
            Self::Content(_) | Self::NoBody => "bad-signed-content",
            Self::NoTimestamp | Self::NoId | Self::NoSignature => "incomplete-scheme",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Algorithm(_) => "use hmac-sha256, hmac-sha1, hmac-sha512 or token",
            Self::Encoding(_) => "use hex or base64",
            Self::Header(_) => "use letters, digits and hyphens, such as X-Signature",
            Self::Place(_) | Self::Content(_) => return None,
            Self::NoBody => "put {body} into the signed content, such as {timestamp}.{body}",
            Self::NoTimestamp => "set timestamp_header, or take {timestamp} out of the signed content",
            Self::NoId => "set id_at to header:Name, or take {id} out of the signed content",
            Self::NoSignature => "set signature_header, such as X-Signature",
        };
        Some(hint.to_owned())
    }
}

/// Whether a generic scheme can be used as it is.
///
/// # Errors
/// [`VerifyError`], each with what to do about it.
pub fn validate_generic(generic: &GenericScheme) -> Result<(), VerifyError> {
    compile(generic)?;
    for name in [&generic.signature_header, &generic.timestamp_header].into_iter().flatten() {
        check_header(name)?;
    }
    for place in
        [&generic.id_at, &generic.type_at, &generic.time_at, &generic.object_at].into_iter().flatten()
    {
        if let Some(name) = place.strip_prefix("header:") {
            check_header(name)?;
        }
    }
    build_plan(generic)?;
    Ok(())
}

fn check_header(name: &str) -> Result<(), VerifyError> {
    HeaderLines::from_pairs([(name, "")]).map(|_| ()).map_err(|_| VerifyError::Header(name.to_owned()))
}

/// The settings as a scheme; `None` where they don't say how to sign.
pub(crate) fn compile(generic: &GenericScheme) -> Result<Option<Scheme>, VerifyError> {
    let Some(signature) = generic.signature_header.clone().filter(|name| !name.is_empty()) else {
        let signs =
            generic.algorithm.is_some() || generic.prefix.is_some() || generic.signed_content.is_some();
        return if signs { Err(VerifyError::NoSignature) } else { Ok(None) };
    };
    let algorithm = algorithm(generic.algorithm.as_deref())?;
    let encoding = match generic.encoding.as_deref() {
        None | Some("hex") => Encoding::Hex,
        Some("base64") => Encoding::Base64,
        Some(other) => return Err(VerifyError::Encoding(other.to_owned())),
    };
    let content = content(generic, algorithm)?;
    let header = |name: &String| Place::Header(name.clone());
    let id = generic.id_at.as_deref().and_then(|place| place.strip_prefix("header:"));
    let timestamp = generic.timestamp_header.as_ref().filter(|_| content.has_timestamp());
    Ok(Some(Scheme {
        id: ID.to_owned(),
        signature: vec![header(&signature)],
        message_id: id.map(|name| header(&name.to_owned())).into_iter().collect(),
        timestamp: timestamp.map(header).into_iter().collect(),
        algorithm,
        encoding,
        prefix: generic.prefix.clone().unwrap_or_default(),
        content,
        key: if algorithm == Algorithm::Token { KeyMode::Compare } else { KeyMode::Utf8 },
        clock: timestamp.map(|_| Clock {
            tolerance_s: TOLERANCE_S,
            future_checked: true,
            unit: TimeUnit::S,
            exclusive: false,
        }),
        ..Scheme::default()
    }))
}

fn algorithm(name: Option<&str>) -> Result<Algorithm, VerifyError> {
    match name {
        None | Some("hmac-sha256") => Ok(Algorithm::HmacSha256),
        Some("hmac-sha1") => Ok(Algorithm::HmacSha1),
        Some("hmac-sha512") => Ok(Algorithm::HmacSha512),
        Some("token") => Ok(Algorithm::Token),
        Some(other) => Err(VerifyError::Algorithm(other.to_owned())),
    }
}

fn content(generic: &GenericScheme, algorithm: Algorithm) -> Result<SignedContent, VerifyError> {
    let content = SignedContent::parse(generic.signed_content.as_deref().unwrap_or("{body}"))?;
    if algorithm == Algorithm::Token {
        return Ok(SignedContent::default());
    }
    if !content.has_body() {
        return Err(VerifyError::NoBody);
    }
    if content.has_timestamp() && generic.timestamp_header.is_none() {
        return Err(VerifyError::NoTimestamp);
    }
    if content.has_id() && !generic.id_at.as_ref().is_some_and(|place| place.starts_with("header:")) {
        return Err(VerifyError::NoId);
    }
    Ok(content)
}

/// Where the settings say that facts are; `None` where nothing is set or a place can't be read.
pub(crate) fn plan(generic: &GenericScheme) -> Option<Plan> {
    let named = generic.id_at.is_some()
        || generic.type_at.is_some()
        || generic.time_at.is_some()
        || generic.object_at.is_some();
    if named { build_plan(generic).ok() } else { None }
}

fn build_plan(generic: &GenericScheme) -> Result<Plan, PlaceError> {
    let place = |at: &Option<String>| match at {
        // Braces would let a setting smuggle a second place in.
        Some(at) if at.contains(['{', '}', '|']) => Err(PlaceError(at.clone())),
        Some(at) if !at.starts_with('/') && !at.starts_with("header:") => Err(PlaceError(at.clone())),
        Some(at) => Ok(vec![format!("{{{at}}}")]),
        None => Ok(Vec::new()),
    };
    let facts = FactPlaces {
        id: place(&generic.id_at)?,
        kind: place(&generic.type_at)?,
        time: place(&generic.time_at)?,
        object: place(&generic.object_at)?,
        title: Vec::new(),
        form_json: None,
    };
    Plan::new(&facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_settings_say_what_to_do() {
        let good =
            GenericScheme { signature_header: Some("X-Signature".to_owned()), ..GenericScheme::default() };
        assert_eq!(validate_generic(&good), Ok(()));
        assert_eq!(validate_generic(&GenericScheme::default()), Ok(()));
        type Spoil = fn(&mut GenericScheme);
        let table: [(&str, Spoil); 10] = [
            ("bad-algorithm", |it| it.algorithm = Some("md5".to_owned())),
            ("bad-encoding", |it| it.encoding = Some("base58".to_owned())),
            ("bad-header-name", |it| it.signature_header = Some("X Signature".to_owned())),
            ("bad-header-name", |it| it.id_at = Some("header:X:Y".to_owned())),
            ("bad-place", |it| it.id_at = Some("id".to_owned())),
            ("bad-place", |it| it.time_at = Some("/a}{/b".to_owned())),
            ("bad-signed-content", |it| it.signed_content = Some("{uri}".to_owned())),
            ("bad-signed-content", |it| it.signed_content = Some("{timestamp}".to_owned())),
            ("incomplete-scheme", |it| it.signed_content = Some("{timestamp}.{body}".to_owned())),
            ("incomplete-scheme", |it| it.signed_content = Some("{id}.{body}".to_owned())),
        ];
        for (code, spoil) in table {
            let mut bad = good.clone();
            spoil(&mut bad);
            let error = validate_generic(&bad).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
        }
        let headless = GenericScheme { prefix: Some("v1=".to_owned()), ..GenericScheme::default() };
        assert_eq!(validate_generic(&headless), Err(VerifyError::NoSignature));
    }
}
