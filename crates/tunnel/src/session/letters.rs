//! The letters of one connection, from their first byte to their acknowledgement.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use hookmitt_event::Timestamp;
use hookmitt_wire::{AppFrame, Depth, LetterError, MAX_FRAME, NO_ANSWER, Parcel, encode};
use tokio::time::{Instant, timeout};
use tracing::warn;

use super::shared::Shared;
use crate::{
    Answering, AppReply, Letterhead, Options, Recipient, TunnelError, Unreadable,
    acks::Acks,
    horizon::Mark,
    intake::{Intake, Whole},
    work::{Done, Outcome, Turn, Working, work},
};

/// Resolves to the reply for the held sender of an event.
type Answer = Pin<Box<dyn Future<Output = ([u8; 16], Option<AppReply>)> + Send>>;

/// How many senders may be held at a time. Further ones get the source's default answer from the relay.
const MOST_HELD: usize = 1_024;

/// How long we wait before asking again after the relay reported no new sealing key. Until then, a letter that can't be
/// opened is treated as unreadable.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Whether we ask the relay for the sealing key.
#[derive(Clone, Copy)]
enum Asking {
    /// No. At this time, if any, the relay reported that there is no new key.
    No(Option<Instant>),
    /// We have to ask.
    Wants,
    /// We asked, and wait for the answer.
    Asked,
}

impl Asking {
    fn is_open(self) -> bool {
        !matches!(self, Self::No(_))
    }

    /// Whether a letter that can't be opened may wait for an answer: one that is already on its way also concerns
    /// letters that arrive before it.
    fn may_ask(self) -> bool {
        !matches!(self, Self::No(Some(at)) if at.elapsed() < ASK_AGAIN)
    }

    fn begun(self) -> Self {
        if self.is_open() { self } else { Self::Wants }
    }
}

fn next_run<R>(shared: &Shared<R>) -> u64 {
    shared.runs.fetch_add(1, Ordering::Relaxed) + 1
}

/// The letters of one connection.
pub(super) struct Letters<R> {
    shared: Arc<Shared<R>>,
    intake: Intake,
    acks: Acks,
    /// Complete letters that came after a large one that is incomplete. They wait, so that they don't overtake it. The
    /// window limits how many bytes they have.
    behind: BTreeMap<u64, (Whole, Letterhead)>,
    /// The turn of the next letter to be handed over.
    turn: Turn,
    /// Letters that are being stored.
    pub(super) working: FuturesUnordered<Working>,
    /// Letters that are stored and acknowledged, and whose sender waits for a reply.
    pub(super) answering: FuturesUnordered<Answer>,
    /// Letters that are tried again, because they could not be stored or because a new sealing key may open them, and
    /// the letters that wait behind them. By position.
    later: BTreeMap<u64, (Whole, Letterhead)>,
    /// When they are tried again.
    resume_at: Option<Instant>,
    /// Whether the first of them is being tried; the others wait for its outcome.
    tries: bool,
    /// The current run of letters.
    run: u64,
    /// Letters that this key can't open, as long as it has opened none.
    locked: BTreeMap<u64, Letterhead>,
    /// Whether we ask the relay for the sealing key, because of letters that could not be opened.
    asking: Asking,
    /// Replies to held senders that are to be sent.
    answers: VecDeque<AppFrame>,
    /// The newest position in the mailbox when this connection began, and the time of that.
    newest: u64,
    began: Mark,
    /// What waits at the relay.
    depth: Depth,
    caught_up: bool,
}

impl<R: Recipient> Letters<R> {
    pub(super) fn new(shared: Arc<Shared<R>>, newest: u64, depth: Depth, since: Timestamp) -> Self {
        shared.options.horizon.heard(&depth, since, since);
        let (run, acks) = (next_run(&shared), Acks::new(shared.options.window_bytes.into()));
        Self {
            shared,
            intake: Intake::default(),
            acks,
            behind: BTreeMap::new(),
            turn: Turn::default(),
            working: FuturesUnordered::new(),
            answering: FuturesUnordered::new(),
            later: BTreeMap::new(),
            resume_at: None,
            tries: false,
            run,
            locked: BTreeMap::new(),
            asking: Asking::No(None),
            answers: VecDeque::new(),
            newest,
            began: Mark::at(since, since),
            depth,
            caught_up: depth.letters == 0,
        }
    }

    /// Takes the first frame of a letter. The relay must respect the window; only the last letter may exceed it, and
    /// one letter that is larger than the window is not counted. A relay that goes twice as far ends the connection.
    pub(super) fn begins(&mut self, position: u64, parcel: Parcel, size: u32) -> Result<(), TunnelError> {
        let Options { window, window_bytes, .. } = self.shared.options;
        if self.acks.letters() >= 2 * u64::from(window) || self.acks.bytes() >= 2 * u64::from(window_bytes) {
            return Err(TunnelError::Protocol("it sends more than it may before acknowledgement"));
        }
        let whole = self.intake.begins(position, parcel, size)?;
        self.acks.arrives(position, size.into());
        whole.into_iter().for_each(|whole| self.arrived(whole));
        Ok(())
    }

    /// Takes the next piece of a letter.
    pub(super) fn goes_on(&mut self, position: u64, piece: &[u8]) -> Result<(), TunnelError> {
        let whole = self.intake.goes_on(position, piece)?;
        whole.into_iter().for_each(|whole| self.arrived(whole));
        Ok(())
    }

    fn arrived(&mut self, whole: Whole) {
        let Shared { tunnel, options, .. } = &*self.shared;
        let waited = whole.position <= self.newest;
        let bounds = options.horizon.bounds((!waited).then_some(self.began), options.clock.now());
        let head = Letterhead::new(tunnel, whole.position, &whole.parcel, waited, bounds);
        if whole.parcel.held && !waited {
            return self.accept(whole, head); // a held sender waits for the answer, so its letter doesn't wait for others
        }
        self.behind.insert(whole.position, (whole, head));
        let first_apart = self.intake.first_apart().unwrap_or(u64::MAX);
        while let Some(first) = self.behind.first_entry().filter(|first| *first.key() < first_apart) {
            let (whole, head) = first.remove();
            self.accept(whole, head);
        }
    }

    fn accept(&mut self, whole: Whole, head: Letterhead) {
        if self.resume_at.is_some() || self.tries || self.asking.is_open() {
            // An older letter could not be stored, so this one waits behind it.
            self.later.insert(whole.position, (whole, head));
        } else {
            self.start(whole, head);
        }
    }

    /// Begins to open and store a letter. Letters are handed over in the order in which this is called, however long
    /// opening takes. The letter of a held sender goes first.
    fn start(&mut self, whole: Whole, mut head: Letterhead) {
        head.run = self.run;
        let Shared { opener, recipient, .. } = &*self.shared;
        let turn = if head.held && !head.waited { Turn::default() } else { self.turn.next() };
        let mut working = work(Arc::clone(opener), Arc::clone(recipient), whole, head, turn);
        match (&mut working).now_or_never() {
            Some(done) => self.finished(done),
            None => self.working.push(working),
        }
    }

    /// Handles the outcome of a letter.
    pub(super) fn finished(&mut self, Done { whole, head, outcome }: Done) {
        match outcome {
            Outcome::Stored(reply) => {
                self.key_fits();
                self.acks.stored(whole.position);
                self.go_on();
                if let Some((event, answering)) = reply {
                    self.await_answer(event, answering);
                }
            }
            Outcome::Later => {
                self.later.insert(whole.position, (whole, head));
                self.tries = false;
                self.resume_at.get_or_insert_with(|| Instant::now() + self.shared.options.pace.later);
            }
            Outcome::Unreadable(Unreadable::Foreign) if self.asking.may_ask() => {
                // Perhaps the sealing key was replaced, and we have not heard of it yet.
                self.later.insert(whole.position, (whole, head));
                self.tries = false;
                self.asking = self.asking.begun();
            }
            Outcome::Unreadable(why) => {
                self.unreadable(head, &why);
                self.go_on();
            }
        }
    }

    /// Handles a letter that can't be read. If a key that fits this tunnel can't open it, or its content is invalid, it
    /// is lost. A newer hookmitt may understand a newer format; and while this key has opened nothing, it may be the
    /// wrong one.
    fn unreadable(&mut self, head: Letterhead, why: &Unreadable) {
        let lost = match why {
            Unreadable::Foreign => self.shared.key_fits.load(Ordering::Relaxed),
            Unreadable::Letter(LetterError::Malformed) => true,
            Unreadable::Letter(LetterError::Version(_)) => false,
        };
        self.shared.recipient.unreadable(&head, why, lost);
        if lost {
            self.acks.stored(head.position);
        } else if *why == Unreadable::Foreign {
            self.locked.insert(head.position, head);
        }
    }

    /// Notes that the key has opened a letter, so those that it could not open are lost.
    fn key_fits(&mut self) {
        self.shared.key_fits.store(true, Ordering::Relaxed);
        while let Some((_, head)) = self.locked.pop_first() {
            self.unreadable(head, &Unreadable::Foreign);
        }
    }

    fn await_answer(&mut self, event: [u8; 16], mut answering: Answering) {
        match (&mut answering).now_or_never() {
            Some(reply) => self.answer(event, reply),
            None if self.answering.len() < MOST_HELD => {
                self.answering.push(Box::pin(async move { (event, answering.await) }));
            }
            None => {
                warn!("too many senders are waiting; one gets the source's default answer");
                self.answer(event, None);
            }
        }
    }

    pub(super) fn answer(&mut self, event: [u8; 16], reply: Option<AppReply>) {
        let said = |AppReply { status, headers, body }| AppFrame::Answer { event, status, headers, body };
        let fits = |answer: &AppFrame| {
            let fits = encode(answer).len() <= MAX_FRAME;
            if !fits {
                warn!("an answer is too large for the tunnel; its sender gets the source's default answer");
            }
            fits
        };
        let none = || said(AppReply { status: NO_ANSWER, headers: Vec::new(), body: Bytes::new() });
        self.answers.push_back(reply.map(said).filter(fits).unwrap_or_else(none));
    }

    /// Whether the relay must be asked for the sealing key. Returns true once.
    pub(super) fn wants_key(&mut self) -> bool {
        let wants = matches!(self.asking, Asking::Wants);
        if wants {
            self.asking = Asking::Asked;
        }
        wants
    }

    /// Handles the relay's answer about the sealing key: letters that waited for it are tried again. Returns false if
    /// letters that the key may open are not here any more.
    pub(super) fn key_is_told(&mut self, is_new: bool) -> bool {
        if self.asking.is_open() {
            self.resume_at.get_or_insert_with(Instant::now);
        }
        self.asking = Asking::No((!is_new).then(Instant::now));
        !is_new || self.locked.is_empty()
    }

    /// Returns when letters are tried again. Not while others of their run are still being stored, because those might
    /// overtake them.
    pub(super) fn resume_at(&self) -> Option<Instant> {
        self.resume_at.filter(|_| self.working.is_empty() && !self.asking.is_open())
    }

    /// Tries the first letter that could not be stored again. The others follow when it is stored.
    pub(super) fn resume(&mut self) {
        self.resume_at = None;
        self.run = next_run(&self.shared);
        if let Some((_, (whole, head))) = self.later.pop_first() {
            self.tries = true;
            self.start(whole, head);
        }
    }

    /// Begins the other letters, in order, after the one that was tried again is done.
    fn go_on(&mut self) {
        if !std::mem::take(&mut self.tries) {
            return;
        }
        while self.resume_at.is_none() && !self.asking.is_open() {
            let Some((_, (whole, head))) = self.later.pop_first() else { break };
            self.start(whole, head);
        }
    }

    /// Waits for the letters that are being stored, and for the replies to their senders.
    pub(super) async fn finish_what_is_under_way(&mut self, limit: Duration) {
        let under_way = async {
            while let Some(done) = self.working.next().await {
                self.finished(done);
            }
            while let Some((event, reply)) = self.answering.next().await {
                self.answer(event, reply);
            }
        };
        // What takes longer is sent again by the relay.
        let _ = timeout(limit, under_way).await;
    }

    pub(super) fn has_words(&self) -> bool {
        !self.answers.is_empty() || self.acks.is_untold()
    }

    pub(super) fn next_word(&mut self) -> Option<AppFrame> {
        self.answers.pop_front().or_else(|| self.acks.is_untold().then(|| self.acks.tell()))
    }

    /// Takes the relay's report of what waits there. It was requested `asked` ago.
    pub(super) fn depth(&mut self, depth: Depth, asked: Duration) {
        let now = self.shared.options.clock.now();
        self.shared.options.horizon.heard(&depth, now.before(asked), now);
        self.depth = depth;
    }

    pub(super) fn waiting(&self) -> Depth {
        self.depth
    }

    pub(super) fn unacked(&self) -> u64 {
        self.acks.letters()
    }

    pub(super) fn is_caught_up(&self) -> bool {
        self.caught_up
    }

    /// Returns true once: when everything that waited at the beginning of this connection is stored.
    pub(super) fn catches_up(&mut self) -> bool {
        let all_came = self.acks.newest() >= self.newest || self.depth.letters == 0;
        let now = !self.caught_up && all_came && !self.acks.is_open_through(self.newest);
        self.caught_up |= now;
        now
    }
}
