//! Verifies signatures. The comparisons that make an event genuine are here and nowhere else.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use sha2::{Digest as _, Sha256};

use crate::{
    algorithm::{Algorithm, Encoding},
    content::Parts,
    jwt_scheme,
    key_bytes::key_bytes,
    mac::{Mac, TagText, constant_time_eq},
    public_key::Signing,
    request_view::RequestView,
    scheme::{BodyForms, Scheme, Special, UrlForms},
    secret::Secret,
    signature::Signed,
    special::{adyen, contentful, sns},
};

/// Returns the first of these secrets that verifies the signature.
pub(crate) fn holding<'s>(signed: &Signed<'_>, secrets: &'s [Secret]) -> Option<&'s Secret> {
    let suited = secrets.iter().filter(|secret| secret.suits(signed.scheme));
    if signed.scheme.every {
        return in_order(signed, suited);
    }
    suited.into_iter().find(|secret| holds(signed, secret))
}

/// Checks the n-th secret against the n-th place only (Box: primary and secondary key).
fn in_order<'s>(signed: &Signed<'_>, secrets: impl Iterator<Item = &'s Secret>) -> Option<&'s Secret> {
    let alone = |place: &crate::place::Place| {
        let scheme = Scheme { signature: vec![place.clone()], every: false, ..signed.scheme.clone() };
        move |secret: &Secret| {
            Signed::find(&scheme, signed.parts.view).is_some_and(|signed| holds(&signed, secret))
        }
    };
    let mut pairs = signed.scheme.signature.iter().zip(secrets);
    pairs.find(|(place, secret)| alone(place)(secret)).map(|(_, secret)| secret)
}

/// Whether one of the accepted signatures was made with this secret.
pub(crate) fn holds(signed: &Signed<'_>, secret: &Secret) -> bool {
    let scheme = signed.scheme;
    if !body_hash_holds(signed) {
        return false;
    }
    if scheme.algorithm.is_jwt() {
        return jwt_scheme::holds(signed, secret);
    }
    if scheme.algorithm.is_asymmetric() {
        return verifies(signed, secret);
    }
    key_bytes(secret.value().expose(), scheme.key).is_some_and(|key| holds_with_key(signed, &key))
}

/// Whether the signature matches, given these key bytes.
pub(crate) fn holds_with_key(signed: &Signed<'_>, key: &[u8]) -> bool {
    let scheme = signed.scheme;
    match (scheme.algorithm, scheme.special) {
        (Algorithm::Token, _) => signed.accepted().any(|given| constant_time_eq(given, key)),
        (Algorithm::JwtHs256, _) => jwt_scheme::holds_with_key(signed, key),
        (_, Some(Special::Adyen)) => {
            let items = adyen::items(signed.parts.view.body);
            let own = |item: &adyen::Item| {
                let tag = Mac::new(scheme.algorithm, key).map(|mut mac| {
                    mac.update(item.content.as_bytes());
                    mac.finish(scheme.encoding)
                });
                tag.is_some_and(|tag| tag.is(item.signature.as_bytes()))
            };
            !items.is_empty() && items.iter().all(own)
        }
        _ => in_any_writing(signed, |parts| {
            tag(scheme, parts, key).is_some_and(|tag| signed.accepted().any(|given| is(scheme, &tag, given)))
        }),
    }
}

fn is(scheme: &Scheme, tag: &TagText, given: &[u8]) -> bool {
    tag.is(given) || (scheme.upper && tag.is(&given.to_ascii_lowercase()))
}

/// Returns the keyed hash of the signed content in the scheme's encoding, or `None` if the algorithm isn't a keyed
/// hash.
pub(crate) fn tag(scheme: &Scheme, parts: &Parts<'_>, key: &[u8]) -> Option<TagText> {
    mac(scheme, parts, key).map(|mac| mac.finish(scheme.encoding))
}

/// Computes the keyed hash of the signed content; `None` if the algorithm isn't a keyed hash.
pub(crate) fn mac(scheme: &Scheme, parts: &Parts<'_>, key: &[u8]) -> Option<Mac> {
    let mut mac = Mac::new(scheme.algorithm, key)?;
    feed(scheme, parts, key, |bytes| mac.update(bytes));
    Some(mac)
}

/// Passes the signed bytes to `feed`, piece by piece.
pub(crate) fn feed(scheme: &Scheme, parts: &Parts<'_>, key: &[u8], mut feed: impl FnMut(&[u8])) {
    match scheme.special {
        Some(Special::Contentful) => feed(&contentful::canonical(&parts.view)),
        Some(Special::Sns) => feed(sns::signed_text(parts.view.body).unwrap_or_default().as_bytes()),
        _ => scheme.content.feed(parts, key, feed),
    }
}

/// Returns the signed bytes in one buffer.
pub(crate) fn message(scheme: &Scheme, parts: &Parts<'_>) -> Vec<u8> {
    let mut message = Vec::with_capacity(parts.view.body.len() + 64);
    feed(scheme, parts, &[], |bytes| message.extend_from_slice(bytes));
    message
}

/// Whether `holds` returns true for the request as it came, or for another form of its URL or body that the scheme
/// allows.
fn in_any_writing(signed: &Signed<'_>, mut holds: impl FnMut(&Parts<'_>) -> bool) -> bool {
    let (scheme, parts) = (signed.scheme, &signed.parts);
    if holds(parts) {
        return true;
    }
    if let Some((forms, url)) = scheme.url_forms.zip(parts.view.url) {
        let other = url_forms(forms, url);
        return other.is_some_and(|url| holds(&parts.seen_as(RequestView { url: Some(&url), ..parts.view })));
    }
    match scheme.body_forms {
        Some(BodyForms::Escaped) => {
            let escaped = escaped(parts.view.body);
            escaped.is_some_and(|body| holds(&parts.seen_as(RequestView { body: &body, ..parts.view })))
        }
        None if scheme.special == Some(Special::Braintree) => {
            // The official verifier also tries the payload with a line feed at its end, so a trimmed payload is no
            // error.
            let longer = with_line_feed(parts.view.body);
            longer.is_some_and(|body| holds(&parts.seen_as(RequestView { body: &body, ..parts.view })))
        }
        None => false,
    }
}

/// Returns the form with a line feed added to `bt_payload`.
fn with_line_feed(form: &[u8]) -> Option<Vec<u8>> {
    const FIELD: &[u8] = b"bt_payload=";
    let at = form.windows(FIELD.len()).position(|window| window == FIELD)?;
    let end = form[at..].iter().position(|byte| *byte == b'&').map_or(form.len(), |length| at + length);
    Some([&form[..end], b"%0A", &form[end..]].concat())
}

/// Returns the URL in its other accepted form.
fn url_forms(forms: UrlForms, url: &str) -> Option<String> {
    match forms {
        UrlForms::Ports => with_other_port(url),
        UrlForms::Decoded => {
            // https://developers.hubspot.com: the escapes that are decoded before a v3 signature is made.
            let table = [
                ("%3A", ":"),
                ("%2F", "/"),
                ("%3F", "?"),
                ("%40", "@"),
                ("%21", "!"),
                ("%24", "$"),
                ("%27", "'"),
                ("%28", "("),
                ("%29", ")"),
                ("%2A", "*"),
                ("%2C", ","),
                ("%3B", ";"),
            ];
            let decoded = table.iter().fold(url.to_owned(), |url, (escape, letter)| {
                url.replace(escape, letter).replace(&escape.to_ascii_lowercase(), letter)
            });
            (decoded != url).then_some(decoded)
        }
    }
}

/// Removes the port from a URL that has one; otherwise adds the default port.
fn with_other_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let host_at = authority.rfind('@').map_or(0, |at| at + 1);
    let port =
        authority[host_at..].rfind(':').filter(|at| authority[host_at + at + 1..].parse::<u16>().is_ok());
    let authority = match port {
        Some(at) => authority[..host_at + at].to_owned(),
        None => format!("{authority}:{}", if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 }),
    };
    Some(format!("{scheme}://{authority}{rest}"))
}

/// Escapes slashes and non-ASCII characters as PHP's `json_encode` does. Returns `None` if nothing changes.
pub(crate) fn escaped(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            '/' if before != '\\' => out.push_str("\\/"),
            letter if letter.is_ascii() => out.push(letter),
            letter => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        before = letter;
    }
    (out.len() != body.len()).then(|| out.into_bytes())
}

/// Whether the body matches its signed hash. Always true if the scheme signs no such hash.
pub(crate) fn body_hash_holds(signed: &Signed<'_>) -> bool {
    let Some(place) = &signed.scheme.body_hash else { return true };
    let own = hex::encode(Sha256::digest(signed.parts.view.body));
    place.read(&signed.parts.view).is_some_and(|given| given.eq_ignore_ascii_case(own.as_bytes()))
}

fn verifies(signed: &Signed<'_>, secret: &Secret) -> bool {
    let Some((key, signing)) = secret.as_public().zip(signing(signed.scheme.algorithm)) else { return false };
    in_any_writing(signed, |parts| {
        let message = message(signed.scheme, parts);
        let mut given = signed.accepted().filter_map(|given| decoded(signed.scheme.encoding, given));
        given.any(|signature| key.verifies(signing, None, &message, &signature))
    })
}

/// Returns how a public key verifies that algorithm; `None` if it doesn't, or if the algorithm is for a JSON Web Token,
/// which is verified elsewhere.
pub(crate) fn signing(algorithm: Algorithm) -> Option<Signing> {
    match algorithm {
        Algorithm::Ed25519 => Some(Signing::Ed25519),
        Algorithm::EcdsaP256Sha256 => Some(Signing::P256Der),
        Algorithm::RsaSha256 => Some(Signing::RsaSha256),
        Algorithm::RsaSha1 => Some(Signing::RsaSha1),
        _ => None,
    }
}

/// Decodes a signature; base64 may have padding or not.
pub(crate) fn decoded(encoding: Encoding, text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    match encoding {
        Encoding::Hex => hex::decode(text).ok(),
        Encoding::Base64 => STANDARD_NO_PAD.decode(&text[..end]).ok(),
        Encoding::Base64url => URL_SAFE_NO_PAD.decode(&text[..end]).ok(),
    }
}
