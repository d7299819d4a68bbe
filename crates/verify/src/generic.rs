//! Turns the signature settings of a source without a catalogue provider into a scheme.

use hookmitt_event::{GenericScheme, HeaderLines};

use crate::{
    algorithm::{Algorithm, Encoding},
    content::SignedContent,
    fact_plan::{FactPlan, FactTemplates},
    generic_error::VerifyError,
    place::{Place, PlaceError},
    scheme::{Format, KeyMode, Scheme, TimeUnit, TimestampRules},
    subject::SubjectTemplates,
    uncovered::Uncovered,
};

/// The scheme id that a verdict has for a generic scheme.
pub(crate) const ID: &str = "generic";

/// How many seconds a generic source's timestamp may be off in either direction, unless the source says otherwise.
const TOLERANCE_S: u32 = 300;

/// Checks that a generic scheme can be used as it is.
///
/// # Errors
/// Returns a [`VerifyError`] that says how to mend the setting.
pub fn validate_generic(generic: &GenericScheme) -> Result<(), VerifyError> {
    compile(generic)?;
    build_plan(generic)?;
    Ok(())
}

fn header(setting: &'static str, name: &str) -> Result<Place, VerifyError> {
    let fits = HeaderLines::from_pairs([(name, "")]).is_ok();
    let wrong = || VerifyError::Header { setting, given: name.to_owned() };
    fits.then(|| Place::Header(name.to_owned())).ok_or_else(wrong)
}

/// Parses the place that a setting names.
fn place(setting: &'static str, text: &str) -> Result<Place, VerifyError> {
    match text.strip_prefix("header:") {
        Some(name) => header(setting, name),
        None => Place::try_from(text.to_owned()).map_err(|why| VerifyError::Place { setting, why }),
    }
}

/// Returns the place of the signature: `signature_at`, else the header `signature_header`.
fn signature(generic: &GenericScheme) -> Result<Option<Place>, VerifyError> {
    let at = set(&generic.signature_at).map(|text| place("signature_at", text));
    at.or_else(|| set(&generic.signature_header).map(|name| header("signature_header", name))).transpose()
}

/// Returns the place of the timestamp: `timestamp_at`, else the header `timestamp_header`.
fn timestamp(generic: &GenericScheme) -> Result<Option<Place>, VerifyError> {
    let at = set(&generic.timestamp_at).map(|text| place("timestamp_at", text));
    at.or_else(|| set(&generic.timestamp_header).map(|name| header("timestamp_header", name))).transpose()
}

/// Returns a setting unless it is empty.
fn set(setting: &Option<String>) -> Option<&str> {
    setting.as_deref().filter(|text| !text.is_empty())
}

/// Returns the value that a setting names, or the first of `values` if the setting is absent.
fn choice<T: Copy>(
    setting: &'static str,
    given: Option<&str>,
    known: &'static str,
    values: &[(&str, T)],
) -> Result<T, VerifyError> {
    let Some(given) = given else { return Ok(values[0].1) };
    let found = values.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
    found.ok_or_else(|| VerifyError::Unknown { setting, given: given.to_owned(), known })
}

const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("hmac-sha256", Algorithm::HmacSha256),
    ("hmac-sha1", Algorithm::HmacSha1),
    ("hmac-sha512", Algorithm::HmacSha512),
    ("sha256", Algorithm::Sha256),
    ("ed25519", Algorithm::Ed25519),
    ("ecdsa-p256-sha256", Algorithm::EcdsaP256Sha256),
    ("rsa-sha256", Algorithm::RsaSha256),
    ("rsa-sha1", Algorithm::RsaSha1),
    ("token", Algorithm::Token),
];

/// Turns the settings into a scheme. Returns `None` if they describe no signature.
pub(crate) fn compile(generic: &GenericScheme) -> Result<Option<Scheme>, VerifyError> {
    let Some(signature) = signature(generic)? else {
        let signs = [&generic.algorithm, &generic.prefix, &generic.signed_content, &generic.format];
        let signs = signs.into_iter().any(|setting| set(setting).is_some());
        return if signs { Err(VerifyError::NoSignature) } else { Ok(None) };
    };
    let known = "hmac-sha256, hmac-sha1, hmac-sha512, sha256, ed25519, ecdsa-p256-sha256, rsa-sha256, rsa-sha1 or token";
    let algorithm = choice("algorithm", set(&generic.algorithm), known, &ALGORITHMS)?;
    let encodings =
        [("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64url)];
    let encoding = choice("encoding", set(&generic.encoding), "hex, base64 or base64url", &encodings)?;
    let formats = [("plain", Format::Plain), ("fields", Format::Fields), ("list", Format::List)];
    let format = choice("format", set(&generic.format), "plain, fields or list", &formats)?;
    let version = version(generic, format)?;
    let content = content(generic, algorithm)?;
    let id = set(&generic.id_at).filter(|_| content.has_id()).map(|text| place("id_at", text)).transpose()?;
    // A timestamp that isn't signed proves nothing. One in the body counts as signed with it.
    let covered =
        |place: &Place| content.has_timestamp() || matches!(place, Place::Json(..) | Place::Form(_));
    let timestamp = timestamp(generic)?.filter(covered);
    let units = [("s", TimeUnit::S), ("ms", TimeUnit::Ms), ("rfc3339", TimeUnit::Rfc3339)];
    let unit = choice("timestamp_unit", set(&generic.timestamp_unit), "s, ms or rfc3339", &units)?;
    let clock = TimestampRules { tolerance_s: TOLERANCE_S, future_checked: true, unit, exclusive: false };
    let scheme = Scheme {
        id: ID.to_owned(),
        signature: vec![signature],
        message_id: id.into_iter().collect(),
        clock: timestamp.is_some().then_some(clock),
        timestamp: timestamp.into_iter().collect(),
        algorithm,
        encoding,
        prefix: generic.prefix.clone().unwrap_or_default(),
        format,
        version,
        separator: separator(generic)?,
        key: key(generic, algorithm)?,
        content,
        ..Scheme::default()
    };
    Ok(Some(Scheme { uncovered: Uncovered::by_content(scheme.algorithm, &scheme.content), ..scheme }))
}

fn version(generic: &GenericScheme, format: Format) -> Result<String, VerifyError> {
    match (set(&generic.version), format) {
        (Some(version), _) => Ok(version.to_owned()),
        (None, Format::Plain) => Ok(String::new()),
        (None, Format::Fields) => Err(VerifyError::NoVersion("fields")),
        (None, Format::List) => Err(VerifyError::NoVersion("list")),
    }
}

fn separator(generic: &GenericScheme) -> Result<Option<char>, VerifyError> {
    let Some(text) = set(&generic.separator) else { return Ok(None) };
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii() => Ok(Some(letter)),
        _ => Err(VerifyError::Unknown {
            setting: "separator",
            given: text.to_owned(),
            known: "one character, such as a comma or semicolon",
        }),
    }
}

fn key(generic: &GenericScheme, algorithm: Algorithm) -> Result<KeyMode, VerifyError> {
    let modes = [
        ("utf8", KeyMode::Utf8),
        ("base64", KeyMode::Base64),
        ("hex", KeyMode::Hex),
        ("whsec", KeyMode::Whsec),
    ];
    let mode = choice("key", set(&generic.key), "utf8, base64, hex or whsec", &modes)?;
    Ok(match algorithm {
        Algorithm::Token => KeyMode::Compare,
        algorithm if algorithm.is_asymmetric() => KeyMode::Public,
        _ => mode,
    })
}

fn content(generic: &GenericScheme, algorithm: Algorithm) -> Result<SignedContent, VerifyError> {
    let content = SignedContent::parse(set(&generic.signed_content).unwrap_or("{body}"))?;
    if algorithm == Algorithm::Token {
        return Ok(SignedContent::default());
    }
    let covers = |place: &Place| matches!(place, Place::Json(..) | Place::Form(_));
    if !content.has_body() && !content.places().any(covers) {
        return Err(VerifyError::NoBody);
    }
    if algorithm == Algorithm::Sha256 && !content.has_secret() {
        return Err(VerifyError::NoSecret);
    }
    let has_time = set(&generic.timestamp_at).or(set(&generic.timestamp_header)).is_some();
    if content.has_timestamp() && !has_time {
        return Err(VerifyError::NoTimestamp);
    }
    if content.has_id() && set(&generic.id_at).is_none() {
        return Err(VerifyError::NoId);
    }
    Ok(content)
}

/// Turns the settings that name facts into a plan. Returns `None` if none is set or one can't be parsed.
pub(crate) fn plan(generic: &GenericScheme) -> Option<FactPlan> {
    let places = [&generic.id_at, &generic.type_at, &generic.time_at, &generic.object_at, &generic.title_at];
    if places.into_iter().any(|place| set(place).is_some()) { build_plan(generic).ok() } else { None }
}

fn build_plan(generic: &GenericScheme) -> Result<FactPlan, VerifyError> {
    let text = |setting: &'static str, at: &Option<String>| {
        let Some(at) = set(at) else { return Ok(Vec::new()) };
        let wrong = || VerifyError::Place { setting, why: PlaceError(at.to_owned()) };
        // Braces or a bar in a setting would add a second placeholder or a modifier to the template.
        if at.contains(['{', '}', '|']) {
            return Err(wrong());
        }
        match place(setting, at)? {
            Place::Field(_) | Place::Param(_) | Place::HeadersLike(_) => Err(wrong()),
            _ => Ok(vec![format!("{{{at}}}")]),
        }
    };
    let facts = FactTemplates {
        id: text("id_at", &generic.id_at)?,
        kind: text("type_at", &generic.type_at)?,
        time: text("time_at", &generic.time_at)?,
        object: text("object_at", &generic.object_at)?,
        form_json: None,
    };
    let title = text("title_at", &generic.title_at)?;
    let subject = SubjectTemplates { title, is_chosen: true, ..SubjectTemplates::default() };
    // The other settings were parsed one by one above, so only the title can be at fault here.
    FactPlan::new(&facts, &subject).map_err(|why| VerifyError::Place { setting: "title_at", why })
}

#[cfg(test)]
mod tests {
    use hookmitt_event::Explain as _;

    use super::*;

    #[test]
    fn bad_settings_say_what_to_do() {
        let good =
            GenericScheme { signature_header: Some("X-Signature".to_owned()), ..GenericScheme::default() };
        assert_eq!(validate_generic(&good), Ok(()));
        assert_eq!(validate_generic(&GenericScheme::default()), Ok(()));
        type Spoil = fn(&mut GenericScheme);
        let table: [(&str, &str, Spoil); 17] = [
            ("bad-algorithm", "algorithm", |it| it.algorithm = Some("md5".to_owned())),
            ("bad-encoding", "encoding", |it| it.encoding = Some("base58".to_owned())),
            ("bad-header-name", "signature_header", |it| {
                it.signature_header = Some("X Signature".to_owned())
            }),
            ("bad-header-name", "id_at", |it| it.id_at = Some("header:X:Y".to_owned())),
            ("bad-place", "id_at", |it| it.id_at = Some("id".to_owned())),
            ("bad-place", "time_at", |it| it.time_at = Some("/a}{/b".to_owned())),
            ("bad-signed-content", "signed_content", |it| it.signed_content = Some("{uri}".to_owned())),
            ("bad-signed-content", "signed_content", |it| it.signed_content = Some("{timestamp}".to_owned())),
            ("incomplete-scheme", "timestamp_header", |it| {
                it.signed_content = Some("{timestamp}.{body}".to_owned())
            }),
            ("incomplete-scheme", "id_at", |it| it.signed_content = Some("{id}.{body}".to_owned())),
            ("incomplete-scheme", "version", |it| it.format = Some("fields".to_owned())),
            ("bad-scheme-setting", "format", |it| it.format = Some("csv".to_owned())),
            ("bad-scheme-setting", "separator", |it| it.separator = Some(", ".to_owned())),
            ("bad-scheme-setting", "key", |it| it.key = Some("rot13".to_owned())),
            ("bad-scheme-setting", "timestamp_unit", |it| it.timestamp_unit = Some("min".to_owned())),
            ("bad-signed-content", "signed_content", |it| it.algorithm = Some("sha256".to_owned())),
            ("bad-place", "title_at", |it| it.title_at = Some("field:t".to_owned())),
        ];
        for (code, setting, spoil) in table {
            let mut bad = good.clone();
            spoil(&mut bad);
            let error = validate_generic(&bad).unwrap_err();
            assert_eq!((error.code(), error.setting()), (code, setting), "{error}");
        }
        let headless = GenericScheme { prefix: Some("v1=".to_owned()), ..GenericScheme::default() };
        assert_eq!(validate_generic(&headless), Err(VerifyError::NoSignature));
    }
}
