//! Senders that wait for the local server's answer (`respond = app`).
//!
//! A sender waits for the first attempt of the deliveries that its event has anyway. No extra request is sent for it,
//! and nothing is lost if it stops waiting.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use hookmitt_catch::{Reply, is_hop_by_hop};
use hookmitt_event::{Attempt, EventId, Respond, TargetId};
use hookmitt_inbox::{Finish, Stored};
use tokio::sync::{mpsc, watch};

use crate::{
    judging::Answered,
    settings::{ConfiguredSource, Settings},
};

/// How long a sender waits at the capture port unless that was set. As long as at a relay, because Slack and Discord
/// wait three seconds for an answer.
const AT_THE_PORT: Duration = Duration::from_millis(2_500);

/// How long we wait for an answer for a sender that a relay holds. The relay decides how long it holds the sender.
pub(crate) const AT_A_RELAY: Duration = Duration::from_secs(120);

/// How many senders may wait at once; any further sender gets the source's own answer at once.
const MOST: usize = 1_024;

/// How many outcomes can queue for one sender, normally one for each target.
const WORDS: usize = 64;

/// The largest body, in bytes, that is passed on to a sender; together with its head it fits into a tunnel frame.
const LARGEST: usize = 768 * 1024;

/// The outcome of an attempt at a target, with the answer if there is one that can be passed on.
type Word = (TargetId, Option<Reply>);

/// The events whose senders wait, each with the channel for its outcomes.
#[derive(Clone, Debug, Default)]
struct Book(Arc<Mutex<HashMap<EventId, mpsc::Sender<Word>>>>);

/// Passes the local server's answers to the senders that wait for them.
#[derive(Debug)]
pub(crate) struct Senders {
    settings: Arc<Settings>,
    /// Whether this process delivers.
    owner: watch::Receiver<bool>,
    book: Book,
    at_the_port: OnceLock<Duration>,
}

/// A sender that waits. Dropping this ends the wait.
#[derive(Debug)]
pub(crate) struct HeldSender {
    event: EventId,
    words: mpsc::Receiver<Word>,
    book: Book,
}

impl Senders {
    pub(crate) fn new(settings: Arc<Settings>, owner: watch::Receiver<bool>) -> Self {
        Self { settings, owner, book: Book::default(), at_the_port: OnceLock::new() }
    }

    /// Sets how long a sender waits at the capture port.
    pub(crate) fn wait_at_the_port(&self, limit: Duration) {
        let _set_before = self.at_the_port.set(limit);
    }

    /// Registers the sender of an event as waiting, if the local server answers for the source and nothing else has
    /// decided the answer. Returns `None` otherwise, and if too many senders wait.
    pub(crate) fn hold(
        &self,
        known: &ConfiguredSource,
        answered: &Answered,
        event: EventId,
    ) -> Option<HeldSender> {
        let answer = &known.source.answer;
        let is_open = matches!(answered, Answered::Usual) && answer.fail_next == 0;
        let is_wanted = is_open && answer.respond == Some(Respond::App);
        if is_wanted { self.book.begin(event) } else { None }
    }

    /// Returns what the local server answers to a stored event within `limit`. Returns `None` at once if nothing will
    /// be sent now: the event is a duplicate or has no target, every target is paused or down, or another process
    /// delivers.
    pub(crate) async fn local_answer(
        &self,
        mut held: HeldSender,
        stored: &Stored,
        limit: Duration,
    ) -> Option<Reply> {
        if stored.id != held.event || !*self.owner.borrow() {
            return None;
        }
        let config = self.settings.now();
        let works = |id: &TargetId| {
            config.targets.get(id).is_some_and(|target| !target.paused && target.down_since.is_none())
        };
        let open = stored.waiting.iter().copied().filter(works).collect();
        let answer = tokio::time::timeout(limit, held.answer(open));
        let stop = &self.settings.base.tasks.stop;
        let mut reply = stop.run_until_cancelled(answer).await?.ok()??;
        reply.headers.push(("x-hookmitt-event-id".to_owned(), stored.id.to_string().into_bytes()));
        Some(reply)
    }

    /// Whether the sender of an event still waits.
    pub(crate) fn waits(&self, event: EventId) -> bool {
        self.book.open().contains_key(&event)
    }

    /// Returns how long a sender waits at the capture port.
    pub(crate) fn at_the_port(&self) -> Duration {
        self.at_the_port.get().copied().unwrap_or(AT_THE_PORT)
    }

    /// Passes on the outcome of an attempt.
    pub(crate) fn hear(&self, event: EventId, target: TargetId, end: &Finish) {
        self.book.hear(event, target, end);
    }

    /// Tells every waiting sender that a target is down, because deliveries to it will not be tried soon.
    pub(crate) fn is_down(&self, target: TargetId) {
        self.book.is_down(target);
    }
}

impl Book {
    fn open(&self) -> MutexGuard<'_, HashMap<EventId, mpsc::Sender<Word>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, event: EventId) -> Option<HeldSender> {
        let (sender, words) = mpsc::channel(WORDS);
        let mut book = self.open();
        if book.len() >= MOST {
            return None;
        }
        book.insert(event, sender);
        Some(HeldSender { event, words, book: self.clone() })
    }

    fn hear(&self, event: EventId, target: TargetId, end: &Finish) {
        if let Some(sender) = self.open().get(&event) {
            // If the queue is full or the sender has just stopped waiting, it gets the source's own answer instead.
            let _unheard = sender.try_send((target, answer_in(end)));
        }
    }

    fn is_down(&self, target: TargetId) {
        for sender in self.open().values() {
            let _unheard = sender.try_send((target, None));
        }
    }
}

impl Drop for HeldSender {
    fn drop(&mut self) {
        self.book.open().remove(&self.event);
    }
}

impl HeldSender {
    /// Returns the first answer of a target, or `None` once no target in `open` can answer any more.
    async fn answer(&mut self, mut open: HashSet<TargetId>) -> Option<Reply> {
        loop {
            // With no target left, outcomes that came in before `open` was known still count.
            let word = if open.is_empty() { self.words.try_recv().ok() } else { self.words.recv().await };
            match word? {
                (_, Some(reply)) => return Some(reply),
                (target, None) => drop(open.remove(&target)),
            }
        }
    }
}

fn answer_in(end: &Finish) -> Option<Reply> {
    match end {
        Finish::Completed(attempt)
        | Finish::Retry(attempt, _)
        | Finish::Final(attempt)
        | Finish::Dead(attempt) => answer_of(attempt),
        Finish::Unreachable(_) | Finish::Refused(_) | Finish::Withheld(_) => None,
    }
}

/// Returns the status, body and header lines to pass on, without the headers of the hop to the target. Returns `None`
/// unless the answer is complete, not too large and has a status from 200 to 599.
fn answer_of(attempt: &Attempt) -> Option<Reply> {
    let head = attempt.response.as_ref()?;
    let is_whole = attempt.error.is_none() && !attempt.body_truncated && attempt.body.len() <= LARGEST;
    if !is_whole || !(200..600).contains(&head.status) {
        return None;
    }
    let named = head.headers.get_str("connection").unwrap_or_default();
    let is_ours = |name: &str| {
        is_hop_by_hop(name)
            || name.eq_ignore_ascii_case("content-length")
            || name.eq_ignore_ascii_case("x-hookmitt-event-id")
            || named.split(',').any(|other| other.trim().eq_ignore_ascii_case(name))
    };
    let lines = head.headers.iter().filter(|line| !is_ours(line.name));
    let headers = lines.map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    Some(Reply { status: head.status, headers, body: attempt.body.clone(), delay: Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hookmitt_event::{HeaderLines, NoConnection, ResponseHead, Silence, Timestamp};

    use super::*;

    const ONE: TargetId = TargetId(1);
    const OTHER: TargetId = TargetId(2);

    fn attempt(status: u16, lines: &[(&str, &str)], body: Bytes) -> Attempt {
        let headers = HeaderLines::from_pairs(lines.iter().copied()).unwrap();
        Attempt {
            number: 1,
            started_at: Timestamp::from_seconds(0),
            duration: Duration::ZERO,
            sent: true,
            response: Some(ResponseHead { status, headers }),
            body,
            body_truncated: false,
            error: None,
        }
    }

    #[test]
    fn status_lines_and_body_are_handed_on_and_what_belongs_to_the_old_hop_is_not() {
        let lines = [
            ("Content-Type", "text/xml"),
            ("Set-Cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("Content-Length", "4"),
            ("Connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("Transfer-Encoding", "chunked"),
            ("X-Hookmitt-Event-Id", "made-up"),
        ];
        let reply = answer_of(&attempt(302, &lines, Bytes::from_static(b"<x/>"))).unwrap();
        assert_eq!((reply.status, &reply.body[..]), (302, &b"<x/>"[..]));
        let names: Vec<_> = reply.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Content-Type", "Set-Cookie", "set-cookie"]);
    }

    #[test]
    fn half_an_answer_is_none() {
        let whole = || attempt(200, &[], Bytes::new());
        let spoiled = [
            Attempt { body_truncated: true, ..whole() },
            Attempt { error: Some("it broke off".to_owned()), ..whole() },
            Attempt { response: None, ..whole() },
            Attempt { body: vec![0; LARGEST + 1].into(), ..whole() },
            attempt(101, &[], Bytes::new()),
            attempt(600, &[], Bytes::new()),
        ];
        assert!(answer_of(&whole()).is_some());
        assert!(spoiled.iter().all(|attempt| answer_of(attempt).is_none()));
    }

    #[tokio::test]
    async fn the_first_target_that_answers_is_heard_and_no_sender_waits_for_those_that_do_not() {
        let (book, event) = (Book::default(), EventId::fresh());
        let mut waiting = book.begin(event).unwrap();
        let nobody = Silence { why: NoConnection::ConnectionRefused, error: "nobody is there".to_owned() };
        book.hear(event, ONE, &Finish::Unreachable(nobody));
        book.hear(event, OTHER, &Finish::Retry(attempt(503, &[], Bytes::new()), Duration::ZERO));
        let heard = waiting.answer(HashSet::from([ONE, OTHER])).await;
        assert_eq!(heard.unwrap().status, 503, "what it says, whatever it is");

        book.is_down(ONE);
        book.hear(event, OTHER, &Finish::Refused("our own address".to_owned()));
        assert_eq!(waiting.answer(HashSet::from([ONE, OTHER])).await, None);
        assert_eq!(waiting.answer(HashSet::new()).await, None, "nothing is sent to anybody");
    }

    #[test]
    fn only_so_many_wait_and_nothing_is_kept_of_those_who_gave_up() {
        let book = Book::default();
        let all: Vec<_> = (0..MOST).map(|_| book.begin(EventId::fresh()).unwrap()).collect();
        assert!(book.begin(EventId::fresh()).is_none());
        drop(all);
        assert!(book.open().is_empty());
    }
}
