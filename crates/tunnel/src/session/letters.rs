//! The letters of one connection: from their first byte to their acknowledgement.

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

/// What an event's sender, who is held, is answered, once that is known.
type Answer = Pin<Box<dyn Future<Output = ([u8; 16], Option<AppReply>)> + Send>>;

/// So many senders may be held at a time; any more get the source's default answer from the relay.
const MOST_HELD: usize = 1_024;

/// After the relay knew no other key, letters that don't open are nobody's for so long.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Whether the relay is asked for the sealing key.
#[derive(Clone, Copy)]
enum Asking {
    /// No; it said then that there is no new one.
    No(Option<Instant>),
    /// It is to be.
    Wants,
    /// It has been, and the answer is not here.
    Asked,
}

impl Asking {
    fn is_open(self) -> bool {
        !matches!(self, Self::No(_))
    }

    /// Where it is being asked already, the answer concerns whatever comes until then.
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
    /// Those that are all here, but came after a large one that is not: they wait, so that none overtakes it. The window
    /// bounds how many bytes they are.
    behind: BTreeMap<u64, (Whole, Letterhead)>,
    /// Whose turn it is to be handed over: after the one that was begun last.
    turn: Turn,
    /// Those that are being stored.
    pub(super) working: FuturesUnordered<Working>,
    /// Stored and acknowledged, with a sender that is held for an answer.
    pub(super) answering: FuturesUnordered<Answer>,
    /// Those that could not be stored, and those that came after them, in their order.
    later: BTreeMap<u64, (Whole, Letterhead)>,
    /// When they are tried again.
    resume_at: Option<Instant>,
    /// The first of them is being tried; the others wait for what comes of it.
    tries: bool,
    /// The run of the letters that are begun now.
    run: u64,
    /// Those that this key does not open, as long as it opened none.
    locked: BTreeMap<u64, Letterhead>,
    /// The relay is to be asked for the sealing key, or has been: letters wait that don't open.
    asking: Asking,
    /// Answers to senders that are held.
    answers: VecDeque<AppFrame>,
    /// The newest position when this connection began, and when that was.
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

    /// The first frame of a letter. The relay keeps within the window, where the last letter may reach beyond it, and one
    /// that is larger than the window counts for nothing; a relay that goes twice as far floods.
    pub(super) fn begins(&mut self, position: u64, parcel: Parcel, size: u32) -> Result<(), TunnelError> {
        let Options { window, window_bytes, .. } = self.shared.options;
        if self.acks.letters() >= 2 * u64::from(window) || self.acks.bytes() >= 2 * u64::from(window_bytes) {
            return Err(TunnelError::Protocol("it sends more than it was told to before it is acknowledged"));
        }
        let whole = self.intake.begins(position, parcel, size)?;
        self.acks.arrives(position, size.into());
        whole.into_iter().for_each(|whole| self.arrived(whole));
        Ok(())
    }

    /// The next piece of a letter.
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
            return self.accept(whole, head); // its sender waits, and for no other letter
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
            // An older one could not be stored: this one waits behind it.
            self.later.insert(whole.position, (whole, head));
        } else {
            self.start(whole, head);
        }
    }

    /// Begins to store a letter. They are handed over in the order in which they are begun, whatever becomes of them
    /// afterwards and however long it takes to open them; one whose sender is held passes.
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

    /// A letter is done with.
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
                // Maybe the sealing key was turned over, and this side has not heard of it.
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

    /// The right key can't open it, or it is none when opened: it never will be one. A newer hookmitt may read what is
    /// only too new; and as long as this key opened nothing, the key may be the wrong one.
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

    /// The key opened a letter: those that it did not open are nobody's.
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
                warn!("too many senders are held; one gets the source's default answer");
                self.answer(event, None);
            }
        }
    }

    pub(super) fn answer(&mut self, event: [u8; 16], reply: Option<AppReply>) {
        let said = |AppReply { status, headers, body }| AppFrame::Answer { event, status, headers, body };
        let fits = |answer: &AppFrame| {
            let fits = encode(answer).len() <= MAX_FRAME;
            if !fits {
                warn!("an answer is too large for the tunnel; its sender gets the source's default one");
            }
            fits
        };
        let none = || said(AppReply { status: NO_ANSWER, headers: Vec::new(), body: Bytes::new() });
        self.answers.push_back(reply.map(said).filter(fits).unwrap_or_else(none));
    }

    /// Whether the relay is to be asked for the sealing key, once.
    pub(super) fn wants_key(&mut self) -> bool {
        let wants = matches!(self.asking, Asking::Wants);
        if wants {
            self.asking = Asking::Asked;
        }
        wants
    }

    /// The relay has told the sealing key: what waited for it is tried again. Answers whether all of it is here.
    pub(super) fn key_is_told(&mut self, is_new: bool) -> bool {
        if self.asking.is_open() {
            self.resume_at.get_or_insert_with(Instant::now);
        }
        self.asking = Asking::No((!is_new).then(Instant::now));
        !is_new || self.locked.is_empty()
    }

    /// When letters are tried again; not while others of their run are still under way, or those might overtake them.
    pub(super) fn resume_at(&self) -> Option<Instant> {
        self.resume_at.filter(|_| self.working.is_empty() && !self.asking.is_open())
    }

    /// Tries the first letter again that could not be stored. The others follow once it is.
    pub(super) fn resume(&mut self) {
        self.resume_at = None;
        self.run = next_run(&self.shared);
        if let Some((_, (whole, head))) = self.later.pop_first() {
            self.tries = true;
            self.start(whole, head);
        }
    }

    /// The letter that was tried again is done with: so the others are begun, in their order.
    fn go_on(&mut self) {
        if !std::mem::take(&mut self.tries) {
            return;
        }
        while self.resume_at.is_none() && !self.asking.is_open() {
            let Some((_, (whole, head))) = self.later.pop_first() else { break };
            self.start(whole, head);
        }
    }

    /// Waits for the letters that are being stored, and for what their senders are answered.
    pub(super) async fn finish_what_is_under_way(&mut self, limit: Duration) {
        let under_way = async {
            while let Some(done) = self.working.next().await {
                self.finished(done);
            }
            while let Some((event, reply)) = self.answering.next().await {
                self.answer(event, reply);
            }
        };
        // What takes longer comes again.
        let _ = timeout(limit, under_way).await;
    }

    pub(super) fn has_words(&self) -> bool {
        !self.answers.is_empty() || self.acks.is_untold()
    }

    pub(super) fn next_word(&mut self) -> Option<AppFrame> {
        self.answers.pop_front().or_else(|| self.acks.is_untold().then(|| self.acks.tell()))
    }

    /// What the relay says that waits there, asked so long ago.
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

    /// Whether everything that waited when this connection began is stored from now on.
    pub(super) fn catches_up(&mut self) -> bool {
        let all_came = self.acks.newest() >= self.newest || self.depth.letters == 0;
        let now = !self.caught_up && all_came && !self.acks.is_open_through(self.newest);
        self.caught_up |= now;
        now
    }
}
