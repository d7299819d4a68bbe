//! Senders that wait for what the local server answers (`respond = app`).
//!
//! A sender waits for the first attempt of the delivery that its event has anyway: nothing is sent for its sake, and
//! nothing is lost where it can't wait any longer.

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

/// How long a sender waits at the capture port, where nothing else was said: as long as at a relay, for Slack and
/// Discord give three seconds.
const AT_THE_PORT: Duration = Duration::from_millis(2_500);

/// How long we listen for a sender that a relay holds. How long it waits is the relay's to say.
pub(crate) const AT_A_RELAY: Duration = Duration::from_secs(120);

/// So many senders may wait; any more get the source's own answer at once.
const MOST: usize = 1_024;

/// So much may be heard before it is looked at: a word for each target.
const WORDS: usize = 64;

/// The largest body that is handed on; with its head it fits into a frame of a tunnel.
const LARGEST: usize = 768 * 1024;

/// What came of an attempt at a target: its answer, or none.
type Word = (TargetId, Option<Reply>);

/// Who waits for which event.
#[derive(Clone, Debug, Default)]
struct Book(Arc<Mutex<HashMap<EventId, mpsc::Sender<Word>>>>);

/// The senders that wait.
#[derive(Debug)]
pub(crate) struct Senders {
    settings: Arc<Settings>,
    /// Whether this process delivers.
    owner: watch::Receiver<bool>,
    book: Book,
    at_the_port: OnceLock<Duration>,
}

/// A sender that waits; forgotten with this.
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

    /// Holds the sender of an event, where the local server is to answer and the answer isn't settled without it.
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

    /// What the local server answers to a stored event within `limit`. None at once where nothing is sent to anybody:
    /// a repeat, no target, one that is paused or down, another process that delivers.
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

    /// How long a sender waits at the capture port.
    pub(crate) fn at_the_port(&self) -> Duration {
        self.at_the_port.get().copied().unwrap_or(AT_THE_PORT)
    }

    /// An attempt has ended.
    pub(crate) fn hear(&self, event: EventId, target: TargetId, end: &Finish) {
        self.book.hear(event, target, end);
    }

    /// Nobody answers at a target: nothing that waits for it will be tried soon.
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
            // Full, or given up just now: its source's own answer is as good.
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
    /// The first answer of one of the targets; none where none of them will answer.
    async fn answer(&mut self, mut open: HashSet<TargetId>) -> Option<Reply> {
        loop {
            // What was said before we knew whom to listen to counts, too.
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

/// What a sender is told of an attempt: the status, the body and the header lines, less those of the old hop.
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
    use hookmitt_event::{HeaderLines, ResponseHead, Timestamp};

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
        book.hear(event, ONE, &Finish::Unreachable("nobody is there".to_owned()));
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
