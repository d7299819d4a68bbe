//! Compares one SDK with our code: each has to accept what the other signs.

mod bodies;
mod rows;

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Inquiry, Judgement, Provider, Secret, SignBy, TestKeyPair, judge, parse_public_key, provider, sample,
    sign,
};

pub(crate) use bodies::Dice;
use rows::{Bodies, Key};
pub(crate) use rows::{ROWS, Row};

use crate::peer::{Order, Peer};

/// The URL that providers call. Some of them sign it.
const ORIGIN: &str = "https://hooks.example.com:8443";
const PATH: &str = "/in/a-b";
const QUERY: &str = "shop=1&next=%2Fx%20y";

/// The results of a row.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) signed: usize,
    pub(crate) verified: usize,
    pub(crate) resigned: usize,
    pub(crate) complaints: Vec<String>,
}

/// A row with its keys.
struct Bench<'a> {
    row: &'a Row,
    provider: &'static Provider,
    /// The key that signs: the secret, or the private half of the pair.
    signing: String,
    /// The key that verifies: the secret, or the public half.
    verifying: String,
    /// A verifying key that isn't the right one.
    wrong: String,
    params: Vec<(String, String)>,
}

/// Runs all checks with one SDK.
pub(crate) fn tally(peer: &mut Peer, row: &Row, dice: &mut Dice) -> Tally {
    let (bench, name) = (Bench::new(row), format!("{} {}", row.name(), row.sdk(peer)));
    let mut tally = Tally::default();
    for body in bodies::samples(row, bench.provider).into_iter().chain(bodies::made_up(row, dice)) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let mut count = |what: &str, done: Result<(), String>| {
            let done = done.map_err(|why| tally.complaints.push(format!("{name}: {what} {shown:?}: {why}")));
            usize::from(done.is_ok())
        };
        let verified = count("our signature of", bench.we_sign(peer, &body));
        let (signed, resigned) = match bench.they_sign(peer, &body) {
            Ok(theirs) => (1, count("our signature of an edited", bench.we_resign(peer, &theirs))),
            Err(why) => (count("their signature of", Err(why)), 0),
        };
        tally.signed += signed;
        tally.verified += verified;
        tally.resigned += resigned;
    }
    tally
}

impl Row {
    /// Returns the provider, and the scheme if it isn't the first.
    pub(crate) fn name(&self) -> String {
        self.scheme.map_or_else(|| self.id.to_owned(), |scheme| format!("{} ({scheme})", self.id))
    }

    pub(crate) fn sdk(&self, peer: &Peer) -> String {
        peer.versions()[self.id].clone()
    }
}

impl<'a> Bench<'a> {
    fn new(row: &'a Row) -> Self {
        let (signing, verifying, wrong) = match row.key {
            Key::Secret(secret, other) => (secret.to_owned(), secret.to_owned(), other.to_owned()),
            Key::Pair(kind, form) => {
                let [ours, other] = [(); 2].map(|()| TestKeyPair::generate(kind).unwrap());
                (ours.private_pem(), ours.public(form).unwrap(), other.public(form).unwrap())
            }
        };
        let params =
            row.params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { row, provider: provider(row.id).unwrap(), signing, verifying, wrong, params }
    }

    fn order(&self) -> Order {
        let pair = matches!(self.row.key, Key::Pair(..));
        Order {
            sdk: self.row.id,
            scheme: self.row.scheme,
            secret: if pair { String::new() } else { self.verifying.clone() },
            pair: pair.then(|| (self.signing.clone(), self.verifying.clone())),
            url: Some(format!("{ORIGIN}{PATH}?{QUERY}")),
            params: self.params.clone(),
            ..Order::default()
        }
    }

    /// The SDK signs. For us, the request is valid, invalid under another key, and invalid if the body differs.
    fn they_sign(&self, peer: &mut Peer, body: &[u8]) -> Result<Order, String> {
        let signed = peer.sign(Order { body: body.to_vec(), ..self.order() })?;
        let request = request_of(&signed);
        // Box's first key is for its first signature, the second key for the second.
        let beside: &[&str] = if self.row.id == "box" { &[] } else { &[&self.wrong] };
        let scheme = self.row.scheme;
        self.expect(Verdict::Valid, &request, &[beside, &[&self.verifying]].concat(), scheme)?;
        self.expect(Verdict::Invalid, &request, &[&self.wrong], scheme)?;
        if self.row.covers_body {
            let other = Request { body: bodies::edited(self.row, &signed.body).into(), ..request };
            self.expect(Verdict::Invalid, &other, &[&self.verifying], scheme)?;
        }
        Ok(signed)
    }

    /// We sign an event that has no signature yet. The SDK and we accept it.
    fn we_sign(&self, peer: &mut Peer, body: &[u8]) -> Result<(), String> {
        let now = Timestamp::now();
        let made = sample(self.provider, None, "0197-fresh", now).map_err(|error| error.to_string())?;
        let mut lines: Vec<_> = pairs(&made);
        if self.row.bodies == Bodies::Json {
            lines.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            lines.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        lines.extend(self.row.lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let unsigned = Request {
            path: PATH.to_owned(),
            query: Some(format!("{QUERY}{}", self.row.query)),
            headers: HeaderLines::from_pairs(lines).unwrap(),
            body: body.to_vec().into(),
            ..made
        };
        // With the scheme that its provider prefers.
        self.signed_by_us_is_taken(peer, &unsigned, None)
    }

    /// We sign an edited request of the SDK again. The SDK accepts it, but not without the new signature.
    fn we_resign(&self, peer: &mut Peer, theirs: &Order) -> Result<(), String> {
        let edited = Order { body: bodies::edited(self.row, &theirs.body), ..theirs.clone() };
        if self.row.covers_body && peer.verify(&edited).is_ok() {
            return Err("the SDK takes the edited body as it is".to_owned());
        }
        self.signed_by_us_is_taken(peer, &request_of(&edited), self.row.scheme)
    }

    fn signed_by_us_is_taken(
        &self,
        peer: &mut Peer,
        request: &Request,
        scheme: Option<&str>,
    ) -> Result<(), String> {
        let url = url_of(request);
        let by = SignBy {
            url: Some(&url),
            params: &self.params,
            fresh_id: Some("0197-other"),
            ..SignBy::new(self.provider, self.signing.as_bytes(), Timestamp::now())
        };
        let signed = sign(&by, request).map_err(|error| format!("can't sign: {error}"))?;
        let order = Order {
            url: Some(url_of(&signed)),
            headers: pairs(&signed),
            body: signed.body.to_vec(),
            ..self.order()
        };
        peer.verify(&order).map_err(|error| format!("the SDK says {error}; we sent {:?}", order.headers))?;
        self.expect(Verdict::Valid, &signed, &[&self.verifying], scheme)
    }

    fn expect(
        &self,
        verdict: Verdict,
        request: &Request,
        keys: &[&str],
        scheme: Option<&str>,
    ) -> Result<(), String> {
        let judgement = self.judged(request, keys, scheme);
        if judgement.verdict == verdict {
            return Ok(());
        }
        Err(format!("{:?} instead of {verdict:?}: {:?}", judgement.verdict, judgement.causes))
    }

    fn judged(&self, request: &Request, keys: &[&str], scheme: Option<&str>) -> Judgement {
        let secrets: Vec<_> = keys.iter().map(|key| self.secret(key)).collect();
        judge(&Inquiry {
            request,
            url: Some(&url_of(request)),
            provider: Some(self.provider),
            generic: None,
            scheme,
            secrets: &secrets,
            tolerance: None,
            at: Timestamp::now(),
            params: &self.params,
            published: None,
        })
    }

    fn secret(&self, key: &str) -> Secret {
        match self.row.key {
            Key::Secret(..) => Secret::new("key", key.to_owned()),
            Key::Pair(..) => Secret::public_key("key", parse_public_key(key.as_bytes()).unwrap()),
        }
    }
}

fn url_of(request: &Request) -> String {
    let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{ORIGIN}{}{query}", request.path)
}

fn request_of(order: &Order) -> Request {
    let (path, query) = order.url.as_ref().unwrap()[ORIGIN.len()..].split_once('?').unwrap();
    Request {
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: Some(query.to_owned()),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(order.headers.clone()).unwrap(),
        body: order.body.clone().into(),
    }
}

fn pairs(request: &Request) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    request.headers.iter().map(|line| (line.name.to_owned(), text(line.value))).collect()
}
