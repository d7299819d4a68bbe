//! Signs a request as its provider would.

use hookmitt_event::{GenericScheme, HeaderError, HeaderLines, Request, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::{
    algorithm::Algorithm,
    check,
    content::Parts,
    form,
    fresh::number_of,
    generic, json_edit,
    key_bytes::key_bytes,
    mac::Mac,
    place::Place,
    provider::Provider,
    request_view::RequestView,
    scheme::{Format, Scheme, Special},
    sign_error::SignError,
    sign_jwt,
    special::adyen,
    test_pair::{TestKeyPair, is_private_key},
    timestamp,
};

/// How to sign a request.
#[derive(Debug, Clone, Copy)]
pub struct SignBy<'a> {
    /// The provider whose scheme is used.
    pub provider: &'static Provider,
    /// The source's own scheme. If it describes a signature, it replaces the provider's.
    pub generic: Option<&'a GenericScheme>,
    /// The secret, or a private test key in PEM or as `whsk_…`.
    pub secret: &'a [u8],
    /// The URL that the handler will see, for schemes that sign it.
    pub url: Option<&'a str>,
    /// Configuration that is not in the request, such as a webhook id.
    pub params: &'a [(String, String)],
    /// The time to sign.
    pub at: Timestamp,
    /// What a new id for the event is derived from; if absent, the event keeps its own.
    pub fresh_id: Option<&'a str>,
}

impl<'a> SignBy<'a> {
    /// Signs with a provider's scheme at the given time, with nothing else set.
    pub fn new(provider: &'static Provider, secret: &'a [u8], at: Timestamp) -> Self {
        Self { provider, generic: None, secret, url: None, params: &[], at, fresh_id: None }
    }
}

/// Returns the request with a fresh signature and timestamp. They replace the old ones or are added at the end; all
/// other lines and the rest of the body stay as they are.
///
/// With `fresh_id`, the event's id is replaced too, in its header or in the body, by one of the provider's own form
/// (`msg_…`). A legacy signature in the request is renewed as well.
///
/// # Errors
/// Returns a [`SignError`] that says what to do about it.
pub fn sign(by: &SignBy<'_>, request: &Request) -> Result<Request, SignError> {
    if by.secret.is_empty() {
        return Err(SignError::EmptySecret);
    }
    if let Some(scheme) = by.generic.map(generic::compile).transpose()?.flatten() {
        return SchemeSigner { scheme: &scheme, sender: "the source", by }.sign(request.clone());
    }
    let provider = by.provider;
    let fresh = by.fresh_id.map(|id| provider.with_id(request, id)).transpose()?.flatten();
    let mut signed = fresh.unwrap_or_else(|| request.clone());
    let private = is_private_key(by.secret);
    let view = RequestView { url: by.url, ..RequestView::of_request(request) };
    let suited = |scheme: &&Scheme| {
        scheme.algorithm != Algorithm::None
            && scheme.takes_public_key() == private
            && !scheme.signature.is_empty()
    };
    let schemes: Vec<_> = provider.schemes.iter().filter(suited).collect();
    let applies = |scheme: &&&Scheme| scheme.when.iter().all(|condition| condition.holds(&view));
    let first = schemes.iter().find(applies).or(schemes.first()).ok_or_else(|| provider.unsignable())?;
    signed = SchemeSigner { scheme: first, sender: &provider.name, by }.sign(signed)?;
    let is_there = |scheme: &&&Scheme| {
        scheme.signature.iter().any(|place| place.header().is_some_and(|name| request.headers.has(name)))
    };
    // If two schemes write to the same place, the first one that applies is the one that gets verified.
    let mut written = vec![&first.signature];
    for legacy in schemes.iter().filter(is_there).filter(applies) {
        if !written.contains(&&legacy.signature) {
            written.push(&legacy.signature);
            signed = SchemeSigner { scheme: legacy, sender: &provider.name, by }.sign(signed)?;
        }
    }
    Ok(signed)
}

/// Whether `after` still has a signature of `before` at one of the provider's signature places.
pub fn still_signed(provider: Option<&Provider>, before: &Request, after: &Request) -> bool {
    let (before, after) = (RequestView::of_request(before), RequestView::of_request(after));
    let places =
        provider.into_iter().flat_map(|provider| &provider.schemes).flat_map(|scheme| &scheme.signature);
    places.into_iter().any(|place| {
        let now = place.read_all(&after);
        place.read_all(&before).iter().any(|signature| now.contains(signature))
    })
}

impl Provider {
    fn unsignable(&self) -> SignError {
        if !self.signs() {
            return SignError::SignsNothing(self.name.clone());
        }
        if self.schemes.iter().any(Scheme::takes_public_key) {
            return SignError::PrivateKey(self.name.clone());
        }
        SignError::BadSecret(self.name.clone())
    }

    /// Returns the request with another id, derived from a seed, or `None` if the place of the provider's ids is unknown
    /// or has no value.
    fn with_id(&self, request: &Request, seed: &str) -> Result<Option<Request>, SignError> {
        let id = self.fresh_id(seed);
        let in_scheme = self.schemes.iter().flat_map(|scheme| &scheme.message_id).filter_map(Place::header);
        let in_sample =
            self.sample.iter().map(|sample| sample.id_header.as_str()).filter(|name| !name.is_empty());
        let names: Vec<_> = in_scheme.chain(in_sample).collect();
        if let Some(name) = names.iter().find(|name| request.headers.has(name)).or(names.first()) {
            return Ok(Some(with_line(request, name, &id)?));
        }
        let pointers = self.facts.id.iter().filter_map(|text| text.strip_prefix('{')?.strip_suffix('}'));
        let mut bodies = pointers.filter(|place| place.starts_with('/')).filter_map(|pointer| {
            // If the provider's ids are numbers, a text would not be an id.
            let value = match json_edit::is_text(&request.body, pointer)? {
                true => serde_json::Value::from(id.as_str()),
                false => number_of(seed).into(),
            };
            json_edit::replace(&request.body, pointer, &value.to_string())
        });
        Ok(bodies.next().map(|body| Request { body: body.into(), ..request.clone() }))
    }
}

struct SchemeSigner<'a> {
    scheme: &'a Scheme,
    sender: &'a str,
    by: &'a SignBy<'a>,
}

impl SchemeSigner<'_> {
    fn sign(&self, request: Request) -> Result<Request, SignError> {
        let scheme = self.scheme;
        let there = |place: &Place| place.header().is_some_and(|name| request.headers.has(name));
        let family = scheme.signature.iter().position(there).unwrap_or(0);
        let of_family = |places: &[Place]| places.get(family).or(places.first()).cloned();
        let unit = scheme.clock.as_ref().map(|clock| clock.unit).unwrap_or_default();
        let stamp = timestamp::write(unit, self.by.at);
        let mut signed = request;
        if let Some(place) = of_family(&scheme.timestamp).filter(|place| !matches!(place, Place::Field(_))) {
            signed = self.written(&signed, &place, &stamp)?;
        }
        let mut url = self.by.url.map(str::to_owned);
        if let Some(place) = &scheme.body_hash {
            let hash = hex::encode(Sha256::digest(&signed.body));
            signed = self.written(&signed, place, &hash)?;
            url = url.map(|url| with_query(&url, signed.query.as_deref()));
        }
        if scheme.special == Some(Special::Adyen) {
            return self.adyen(signed);
        }
        let view =
            RequestView { url: url.as_deref(), params: self.by.params, ..RequestView::of_request(&signed) };
        let id = of_family(&scheme.message_id).and_then(|place| place.read(&view)).unwrap_or_default();
        if scheme.content.has_id() && id.is_empty() {
            return Err(SignError::IdNeeded(self.sender.to_owned()));
        }
        let parts = Parts { view, id, timestamp: stamp.as_bytes().into() };
        let value = self.value(&parts, &stamp)?;
        let place =
            of_family(&scheme.signature).ok_or_else(|| SignError::SignsNothing(self.sender.to_owned()))?;
        self.written(&signed, &place, &value)
    }

    /// Returns the request with a text written to a place.
    fn written(&self, request: &Request, place: &Place, text: &str) -> Result<Request, SignError> {
        let no_place = || SignError::NoPlace(self.sender.to_owned(), place.words());
        let body = |body: Vec<u8>| Request { body: body.into(), ..request.clone() };
        match place {
            Place::Header(name) => Ok(with_line(request, name, text)?),
            Place::HeadersLike(start) => Ok(with_line(request, &format!("{start}1"), text)?),
            Place::Json(_, pointer) => {
                let quoted = json_edit::is_text(&request.body, pointer).ok_or_else(no_place)?;
                let text = if quoted {
                    serde_json::Value::String(text.to_owned()).to_string()
                } else {
                    text.to_owned()
                };
                json_edit::replace(&request.body, pointer, &text).map(body).ok_or_else(no_place)
            }
            Place::Form(name) => Ok(body(form::with_value(&request.body, name, text))),
            Place::Query(name) => {
                let query =
                    form::with_value(request.query.as_deref().unwrap_or_default().as_bytes(), name, text);
                let query = String::from_utf8(query).map_err(|_| no_place())?;
                Ok(Request { query: Some(query), ..request.clone() })
            }
            Place::Field(_) | Place::Param(_) | Place::Method => Err(no_place()),
        }
    }

    fn value(&self, parts: &Parts<'_>, stamp: &str) -> Result<String, SignError> {
        let scheme = self.scheme;
        let tag = self.tag(parts)?;
        Ok(match scheme.format {
            _ if scheme.special == Some(Special::Braintree) => {
                format!("{}|{tag}", parts.view.param("public_key_id").unwrap_or("public_key"))
            }
            Format::Plain => format!("{}{tag}", scheme.all_prefixes().next().unwrap_or_default()),
            Format::Fields => {
                let space = if scheme.trim { " " } else { "" };
                let separator = char::from(scheme.field_separator());
                let time = scheme.timestamp_field().map(|name| format!("{name}={stamp}{separator}{space}"));
                format!("{}{}={tag}", time.unwrap_or_default(), scheme.version)
            }
            Format::List => format!("{},{tag}", scheme.version),
        })
    }

    fn tag(&self, parts: &Parts<'_>) -> Result<String, SignError> {
        let (scheme, secret) = (self.scheme, self.by.secret);
        let bad = || SignError::BadSecret(self.sender.to_owned());
        match scheme.algorithm {
            Algorithm::None => Err(SignError::SignsNothing(self.sender.to_owned())),
            Algorithm::Token => {
                let token = key_bytes(secret, scheme.key).ok_or_else(bad)?;
                String::from_utf8(token.into_owned()).map_err(|_| bad())
            }
            algorithm if algorithm.is_jwt() => {
                sign_jwt::token(scheme, parts, secret, self.by.at).ok_or_else(bad)
            }
            algorithm if algorithm.is_asymmetric() => {
                let pair = TestKeyPair::from_secret(secret).map_err(|_| bad())?;
                let way = check::signing(algorithm).ok_or_else(bad)?;
                let signature = pair.sign(way, &check::message(scheme, parts)).map_err(|_| bad())?;
                Ok(scheme.encoding.encode(&signature))
            }
            _ => {
                let key = key_bytes(secret, scheme.key).ok_or_else(bad)?;
                let tag = check::tag(scheme, parts, &key).ok_or_else(bad)?;
                Ok(String::from_utf8_lossy(tag.as_bytes()).into_owned())
            }
        }
    }

    fn adyen(&self, request: Request) -> Result<Request, SignError> {
        let scheme = self.scheme;
        let key = key_bytes(self.by.secret, scheme.key)
            .ok_or_else(|| SignError::BadSecret(self.sender.to_owned()))?;
        let tag = |content: &str| {
            let tag = Mac::new(scheme.algorithm, &key).map(|mut mac| {
                mac.update(content.as_bytes());
                mac.finish(scheme.encoding)
            });
            tag.map(|tag| String::from_utf8_lossy(tag.as_bytes()).into_owned()).unwrap_or_default()
        };
        let body = adyen::with_signatures(&request.body, tag)
            .ok_or_else(|| SignError::NoPlace(self.sender.to_owned(), "notificationItems".to_owned()))?;
        Ok(Request { body: body.into(), ..request })
    }
}

/// Returns the URL with another query.
fn with_query(url: &str, query: Option<&str>) -> String {
    let base = url.split(['?', '#']).next().unwrap_or_default();
    query.map_or_else(|| base.to_owned(), |query| format!("{base}?{query}"))
}

/// Returns the request with one line of that name and value. It replaces the first line of that name and the others are
/// removed; without one, it is added at the end. An existing name keeps its letter case.
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
    // A value with a line break would become two lines, so it is checked alone first.
    HeaderLines::from_pairs([(name, value)])?;
    let headers = HeaderLines::from_wire(block.into())?;
    Ok(Request { headers, ..request.clone() })
}
