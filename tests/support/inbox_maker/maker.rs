//! Makes the events of an inbox, one after the other.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use hookmitt_event::{
    DedupeKey, EventId, Facts, HeaderLines, OnDuplicate, Request, Timestamp, Verdict, Via, WithheldReason,
};
use hookmitt_inbox::{NewEvent, Route};
use hookmitt_verify::{
    Inquiry, Judgement, Provider, Secret, SignBy, facts, judge, provider, sign, test_secret,
};
use sha2::{Digest as _, Sha256};

use super::{
    Plan,
    body::{self, Wish},
    mix::{Kind, MIX},
    random::Random,
};

/// How many of a thousand events repeat an earlier one, and how many of a thousand repeats have other bytes.
const REPEATS: usize = 50;
const OTHER_BYTES: usize = 60;

/// How many of a thousand events come late, and by how much at most: newer ones of the same object came before.
const LATE: usize = 10;
const LATE_BY: Duration = Duration::from_secs(3 * 86_400);

/// How many recent events may be repeated.
const REMEMBERED: usize = 500;

/// How many of a thousand events of a source with a secret are invalid, and how many aren't signed at all.
const INVALID: usize = 57;
const UNSIGNED: usize = 5;

/// One event of this many has the rare word.
const RARE_ONE_OF: u64 = 10_000;

/// Makes events without end. The same plan makes the same events.
pub(super) struct Maker {
    plan: Plan,
    senders: Vec<Sender>,
    random: Random,
    number: u64,
    recent: VecDeque<Sent>,
    /// The rare word is due.
    rare: bool,
}

/// A source, and what its provider sends.
struct Sender {
    kind: &'static Kind,
    provider: Option<&'static Provider>,
    types: Vec<&'static str>,
    secrets: Vec<Secret>,
    /// The row of the source.
    row: i64,
}

/// A request that was sent, and may be sent again.
struct Sent {
    sender: usize,
    id: EventId,
    unsigned: Request,
}

/// What happens to a request on its way.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Signed,
    /// Something adds a line feed to its body.
    Changed,
    Bare,
}

impl Maker {
    /// Makes events of the sources that have these rows, in the order of the mix.
    pub(super) fn new(plan: Plan, rows: &[i64]) -> Self {
        let senders = MIX.iter().zip(rows).map(|(kind, row)| Sender::new(kind, *row)).collect();
        let random = Random::new(plan.seed);
        Self { plan, senders, random, number: 0, recent: VecDeque::new(), rare: false }
    }

    fn fresh(&mut self) -> (usize, Request) {
        let mut place = self.random.below(1_000);
        let sender = self.senders.iter().position(|sender| {
            let here = place < sender.kind.weight;
            place = place.saturating_sub(sender.kind.weight);
            here
        });
        let number = sender.unwrap_or_default();
        let sender = &self.senders[number];
        let wish = Wish { size: self.plan.sizes.draw(&mut self.random), rare: self.rare };
        let request = match sender.provider {
            Some(provider) => body::of_provider(provider, &sender.types, wish, &mut self.random),
            None => body::plain(sender.kind.slug, wish, &mut self.random),
        };
        self.rare &= !request.body.starts_with(b"{");
        (number, request)
    }

    /// Returns one of the recent requests again, some with other bytes.
    fn repeat(&mut self) -> (usize, Request) {
        let place = self.random.below(self.recent.len());
        let Sent { sender, unsigned, .. } = &self.recent[place];
        let mut request = unsigned.clone();
        if self.random.per_mille(OTHER_BYTES) {
            request.body = with_line_feed(&request.body);
        }
        (*sender, request)
    }

    /// Remembers a request that may be repeated. Signing the same one later may change the bytes of some (Linear's have
    /// the time in them), which would make each repeat a conflict.
    fn remember(&mut self, sender: usize, event: &NewEvent, unsigned: Request) {
        let is_repeatable = event.request.body == unsigned.body;
        if event.may_own && event.facts.event_id.is_some() && is_repeatable {
            self.recent.push_back(Sent { sender, id: event.id, unsigned });
        }
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
    }

    fn event(&mut self, sender: usize, unsigned: &Request, fate: Fate) -> NewEvent {
        let at = self.plan.moment(self.number - 1);
        let id = event_id(at, &mut self.random);
        let via = via(&mut self.random);
        let tunnelled = via == Via::Tunnel;
        let is_page = self.random.per_mille(3);
        let parent = self.recent.back().filter(|_| via == Via::Edit).map(|sent| sent.id);
        let remote = format!("203.0.113.{}:{}", self.random.below(256), 1_024 + self.random.below(60_000));
        let sender = &self.senders[sender];
        let request = sender.sent(unsigned, fate, at);
        let Judgement { verdict, causes, .. } = sender.judged(&request, at);
        let facts = facts(&request, sender.provider, None);
        let dedupe_key = dedupe_key(&facts, &request);
        let key_hash = first_half(Sha256::digest(dedupe_key.to_string()).into());
        NewEvent {
            id,
            source: sender.row,
            url: tunnelled
                .then(|| format!("https://team.relay.example/{}{}", sender.kind.slug, request.path)),
            remote: Some(remote),
            received_at: at,
            via,
            provider: sender.provider.map(|provider| provider.id.clone()),
            finds_provider: false,
            handshake_answer: None,
            verdict,
            causes,
            sha256: Sha256::digest(&request.body).into(),
            dedupe_key,
            key_hash,
            may_own: !is_page && (verdict == Verdict::Valid || !sender.kind.has_secret),
            single_use: None,
            rejects: false,
            on_duplicate: OnDuplicate::default(),
            browser: is_page,
            callback: false,
            foreign_host: None,
            delivery_of: None,
            arrival_key: tunnelled.then(|| [1_u64.to_be_bytes(), self.number.to_be_bytes()].concat()),
            forwarded: None,
            caught_up_by: None,
            planned: None,
            parent,
            object_key: None,
            moved_from: None,
            route: if is_page { Route::Withheld(WithheldReason::WebPage.words()) } else { Route::Targets },
            facts,
            request,
        }
    }
}

impl Iterator for Maker {
    type Item = NewEvent;

    fn next(&mut self) -> Option<NewEvent> {
        let late =
            if self.random.per_mille(LATE) { LATE_BY.mul_f64(self.random.share()) } else { Duration::ZERO };
        self.random.now = self.plan.moment(self.number).before(late);
        self.number += 1;
        self.rare |= self.number.is_multiple_of(RARE_ONE_OF);
        let repeats = self.random.per_mille(REPEATS) && !self.recent.is_empty();
        let (sender, unsigned) = if repeats { self.repeat() } else { self.fresh() };
        let fate = match self.random.below(1_000) {
            ..INVALID if !repeats => Fate::Changed,
            place if !repeats && place >= 1_000 - UNSIGNED => Fate::Bare,
            _ => Fate::Signed,
        };
        let event = self.event(sender, &unsigned, fate);
        if !repeats {
            self.remember(sender, &event, unsigned);
        }
        Some(event)
    }
}

impl Sender {
    fn new(kind: &'static Kind, row: i64) -> Self {
        let provider = kind.provider.map(|id| provider(id).expect("it is in the catalogue"));
        let types = provider.map(body::types).unwrap_or_default();
        let secret = provider.filter(|_| kind.has_secret).map(test_secret);
        let secrets =
            secret.into_iter().map(|secret| Secret::new(secret.name, secret.value.as_bytes().to_vec()));
        Self { kind, provider, types, secrets: secrets.collect(), row }
    }

    /// Returns a request as it arrives: signed by the provider, and perhaps changed on its way.
    fn sent(&self, unsigned: &Request, fate: Fate, at: Timestamp) -> Request {
        let mut request = match self.provider.filter(|_| fate != Fate::Bare) {
            Some(provider) => {
                let url = unsigned.called_url(self.kind.slug);
                let secret = test_secret(provider).value.as_bytes();
                let by = SignBy { url: Some(&url), ..SignBy::new(provider, secret, at) };
                sign(&by, unsigned).expect("the provider's samples can be signed")
            }
            None => unsigned.clone(),
        };
        if fate == Fate::Changed && self.provider.is_some() {
            request.body = with_line_feed(&request.body);
        }
        let length = format!("Content-Length: {}\r\n", request.body.len());
        let lines = [request.headers.as_wire(), length.as_bytes()].concat();
        request.headers = HeaderLines::from_wire(lines.into()).expect("header lines");
        request
    }

    fn judged(&self, request: &Request, at: Timestamp) -> Judgement {
        let url = request.called_url(self.kind.slug);
        judge(&Inquiry {
            request,
            url: Some(&url),
            provider: self.provider,
            generic: None,
            scheme: None,
            secrets: &self.secrets,
            tolerance: None,
            at,
            params: &[],
            published: None,
        })
    }
}

fn with_line_feed(body: &Bytes) -> Bytes {
    [&body[..], b"\n"].concat().into()
}

fn via(random: &mut Random) -> Via {
    match random.below(1_000) {
        0..280 => Via::Tunnel,
        280..283 => Via::BackupSync,
        283..288 => Via::Import,
        288..293 => Via::Send,
        293..296 => Via::Edit,
        _ => Via::Direct,
    }
}

/// Returns a UUIDv7 of that moment.
fn event_id(at: Timestamp, random: &mut Random) -> EventId {
    let millis = u64::try_from(at.as_micros() / 1_000).unwrap_or_default();
    EventId::from_bytes(
        *uuid::Builder::from_unix_timestamp_millis(millis, &random.bytes()).as_uuid().as_bytes(),
    )
}

/// Returns what makes two events the same, as the engine does: the provider's id, else a hash of the content.
fn dedupe_key(facts: &Facts, request: &Request) -> DedupeKey {
    if let Some(id) = &facts.event_id {
        return DedupeKey::Id(id.clone());
    }
    let mut hash = Sha256::new();
    for part in [request.method.as_bytes(), request.path_and_query().as_bytes()] {
        hash.update(part);
        hash.update([0]);
    }
    hash.update(&request.body);
    DedupeKey::Content(hex::encode(hash.finalize()))
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    half
}
