//! The developer's own server: remembers what reached it byte for byte, answers as it is told.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
};

/// A request as it reached the server.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Every byte.
    pub bytes: Vec<u8>,
}

impl Seen {
    /// The request line.
    pub fn line(&self) -> String {
        self.head().lines().next().unwrap_or_default().to_owned()
    }

    /// The head as text, without the empty line.
    pub fn head(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.head_end()]).into_owned()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head_end() + 4..]
    }

    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.head();
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    }

    fn head_end(&self) -> usize {
        self.bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head")
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Answers a status with a short body.
    Status(u16),
    /// Writes these bytes as they are, and closes.
    Raw(Vec<u8>),
    /// Holds the connection open, and answers 200 when told to.
    When(Arc<Notify>),
    /// Closes without a word.
    Close,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    answers: Mutex<VecDeque<Answer>>,
    arrived: Notify,
    open: AtomicUsize,
    most: AtomicUsize,
}

/// A server on a port of its own; it stops listening when dropped.
pub struct LocalServer {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<State>,
    tasks: JoinSet<()>,
}

impl LocalServer {
    /// Listens on a free port; answers 200 unless told otherwise.
    pub async fn start() -> Self {
        Self::on("127.0.0.1:0".parse().expect("an address")).await
    }

    /// Listens on an address, such as one that another server had before.
    pub async fn on(address: SocketAddr) -> Self {
        let bound = crate::eventually("the address is free", async || TcpListener::bind(address).await.ok());
        Self::of(bound.await)
    }

    pub(crate) fn of(listener: TcpListener) -> Self {
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(listener, Arc::clone(&state)));
        Self { address, state, tasks }
    }

    pub(crate) async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next requests are answered so, one after the other; then 200 again.
    pub fn will(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    }

    /// What has reached it so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests were open at a time, at most.
    pub fn most_at_once(&self) -> usize {
        self.state.most.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have reached it.
    pub async fn wait_for(&self, count: usize) -> Vec<Seen> {
        let what = format!("{count} requests reach the local server");
        crate::eventually(&what, async || {
            let seen = self.seen();
            (seen.len() >= count).then_some(seen)
        })
        .await
    }
}

async fn listen(listener: TcpListener, state: Arc<State>) {
    let mut open = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        open.spawn(serve(stream, Arc::clone(&state)));
    }
}

async fn serve(mut stream: TcpStream, state: Arc<State>) {
    let Some(bytes) = read_request(&mut stream).await else { return };
    let answer = state.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let open = Open::begins(&state);
    state.seen.lock().unwrap_or_else(PoisonError::into_inner).push(Seen { bytes });
    state.arrived.notify_waiters();
    let bytes = match answer.unwrap_or(Answer::Status(200)) {
        Answer::Status(status) => plain(status),
        Answer::Raw(bytes) => bytes,
        Answer::Close => return,
        Answer::When(go) => {
            go.notified().await;
            plain(200)
        }
    };
    drop(open); // before the sender knows
    let _gone = stream.write_all(&bytes).await;
    let _gone = stream.shutdown().await;
}

/// A request that is not answered yet.
struct Open<'s>(&'s State);

impl<'s> Open<'s> {
    fn begins(state: &'s State) -> Self {
        let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
        state.most.fetch_max(open, Ordering::SeqCst);
        Self(state)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

fn plain(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").into_bytes()
}

async fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .map_or(0, |length| length.trim().parse().unwrap_or(0));
        while bytes.len() < end + 4 + length {
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        return Some(bytes);
    }
}
