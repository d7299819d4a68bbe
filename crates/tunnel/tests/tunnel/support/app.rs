//! An app whose inbox is played by the story.

use std::{
    future::ready,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hookmitt_tunnel::{
    Answering, AppReply, Credentials, Later, Letterhead, NoKey, Options, Pace, Recipient, SealingKey, State,
    Unreadable, keep,
};
use hookmitt_wire::{Letter, SourceOffer};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::within;

/// A letter that the tunnel handed over, and that waits to be stored.
pub(crate) struct Given {
    pub(crate) head: Letterhead,
    pub(crate) letter: Letter,
    done: oneshot::Sender<Result<Option<Answering>, Later>>,
}

impl Given {
    pub(crate) fn stored(self) {
        self.ends(Ok(None));
    }

    pub(crate) fn ends(self, how: Result<Option<AppReply>, Later>) {
        let how = how.map(|reply| reply.map(|reply| Box::pin(ready(Some(reply))) as Answering));
        assert!(self.done.send(how).is_ok(), "the tunnel still waits");
    }

    /// Says that the letter is stored. Its sender is answered when the story says so.
    pub(crate) fn stored_and_answered_later(self) -> oneshot::Sender<AppReply> {
        let (say, said) = oneshot::channel();
        let answering = Box::pin(async { Some(said.await.expect("the story answers")) });
        assert!(self.done.send(Ok(Some(answering))).is_ok(), "the tunnel still waits");
        say
    }
}

/// A letter that could not be read: its position, why, and whether it is lost.
pub(crate) type NotRead = (u64, Unreadable, bool);

struct Inbox {
    sources: watch::Sender<Arc<Vec<SourceOffer>>>,
    stores_by_itself: AtomicBool,
    given: mpsc::UnboundedSender<Given>,
    states: mpsc::UnboundedSender<State>,
    not_read: Mutex<Vec<NotRead>>,
    keys: Mutex<Told>,
}

/// What the app learned about a sealing key that was replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Told {
    #[default]
    Nothing,
    Keys(Vec<SealingKey>),
    None(NoKey),
}

impl Recipient for Inbox {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.sources.subscribe()
    }

    async fn letter(&self, head: Letterhead, letter: Letter) -> Result<Option<Answering>, Later> {
        let (done, stored) = oneshot::channel();
        // The story may be over.
        let _ = self.given.send(Given { head, letter, done });
        if self.stores_by_itself.load(Ordering::SeqCst) {
            return Ok(None);
        }
        stored.await.unwrap_or(Err(Later))
    }

    fn unreadable(&self, head: &Letterhead, why: &Unreadable, lost: bool) {
        self.not_read.lock().expect("no panic").push((head.position, why.clone(), lost));
    }

    fn sealing_keys(&self, keys: Vec<SealingKey>) {
        *self.keys.lock().expect("no panic") = Told::Keys(keys);
    }

    fn no_key(&self, why: NoKey) {
        *self.keys.lock().expect("no panic") = Told::None(why);
    }

    fn state(&self, state: State) {
        let _ = self.states.send(state);
    }
}

/// The app.
pub(crate) struct App {
    inbox: Arc<Inbox>,
    given: mpsc::UnboundedReceiver<Given>,
    states: mpsc::UnboundedReceiver<State>,
    stop: CancellationToken,
    pub(crate) kept: JoinHandle<()>,
}

impl App {
    /// Starts an app; the story stores each letter itself.
    pub(crate) fn start(credentials: Credentials, options: Options) -> Self {
        let (to_story, given) = mpsc::unbounded_channel();
        let (tell, states) = mpsc::unbounded_channel();
        let inbox = Arc::new(Inbox {
            sources: watch::Sender::new(Arc::new(Vec::new())),
            stores_by_itself: AtomicBool::new(false),
            given: to_story,
            states: tell,
            not_read: Mutex::default(),
            keys: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let keeping = keep(credentials, Arc::clone(&inbox), stop.clone(), options);
        #[expect(clippy::disallowed_methods, reason = "the app owns it, and ends it when it is dropped")]
        let kept = tokio::spawn(keeping);
        Self { inbox, given, states, stop, kept }
    }

    /// From now on, letters are stored without the story.
    pub(crate) fn stores_by_itself(self) -> Self {
        self.inbox.stores_by_itself.store(true, Ordering::SeqCst);
        self
    }

    /// Returns options with short pauses, so that stories don't wait.
    pub(crate) fn options() -> Options {
        let pace = Pace {
            longest_pause: Duration::from_millis(5),
            later: Duration::from_millis(5),
            ..Pace::default()
        };
        Options { pace, app: "story/1".to_owned(), ..Options::default() }
    }

    /// Returns the next letter that is handed over.
    pub(crate) async fn given(&mut self) -> Given {
        within("a letter is handed over", self.given.recv()).await.expect("the app runs")
    }

    /// Stores the next letters that are handed over, and returns their positions.
    pub(crate) async fn stores(&mut self, how_many: usize) -> Vec<u64> {
        let mut positions = Vec::new();
        for _ in 0..how_many {
            let given = self.given().await;
            positions.push(given.head.position);
            if !self.inbox.stores_by_itself.load(Ordering::SeqCst) {
                given.stored();
            }
        }
        positions
    }

    /// Whether a letter was handed over that the story did not ask for.
    pub(crate) fn has_more(&mut self) -> bool {
        self.given.try_recv().is_ok()
    }

    /// Waits for a state that fits.
    pub(crate) async fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&State) -> Option<T>) -> T {
        let found = async {
            loop {
                let state = self.states.recv().await.expect("the app runs");
                if let Some(found) = wanted(&state) {
                    return found;
                }
            }
        };
        within(what, found).await
    }

    /// Waits until the tunnel is connected.
    pub(crate) async fn connected(&mut self) {
        self.until("it is connected", |state| matches!(state, State::Connected { .. }).then_some(())).await;
    }

    /// Returns all states so far.
    pub(crate) fn states(&mut self) -> Vec<State> {
        std::iter::from_fn(|| self.states.try_recv().ok()).collect()
    }

    pub(crate) fn offers(&self, sources: Vec<SourceOffer>) {
        self.inbox.sources.send_replace(Arc::new(sources));
    }

    pub(crate) fn not_read(&self) -> Vec<NotRead> {
        self.inbox.not_read.lock().expect("no panic").clone()
    }

    pub(crate) fn told_keys(&self) -> Told {
        self.inbox.keys.lock().expect("no panic").clone()
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.kept.abort();
    }
}
