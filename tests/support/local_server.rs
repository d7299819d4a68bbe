//! The developer's own server: it records every request byte for byte and answers as it is told.

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
    /// All bytes of the request.
    pub bytes: Vec<u8>,
}

impl Seen {
    /// Returns the request line.
    pub fn line(&self) -> String {
        self.head().lines().next().unwrap_or_default().to_owned()
    }

    /// Returns the head as text, without the empty line.
    pub fn head(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.head_end()]).into_owned()
    }

    /// Returns the body.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head_end() + 4..]
    }

    /// Returns the value of the first header line with this name, in any case.
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
    /// Answers with this status and a short body.
    Status(u16),
    /// Writes these bytes unchanged, and closes.
    Raw(Vec<u8>),
    /// Keeps the connection open, and answers 200 when notified.
    When(Arc<Notify>),
    /// Closes without an answer.
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

/// A server on its own port. It stops listening when dropped.
pub struct LocalServer {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<State>,
    tasks: JoinSet<()>,
}

impl LocalServer {
    /// Listens on a free port. Answers 200 unless told otherwise.
    pub async fn start() -> Self {
        Self::on("127.0.0.1:0".parse().expect("an address")).await
    }

    /// Listens on an address, for example one that another server used before. Waits until the address is free.
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

    /// Returns the server's URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues answers for the next requests, in order. Later requests get 200 again.
    pub fn will(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    }

    /// Returns the requests that have reached the server so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the largest number of requests that were open at the same time.
    pub fn most_at_once(&self) -> usize {
        self.state.most.load(Ordering::SeqCst)
    }

    /// Waits until this many requests have reached the server, and returns them.
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
    drop(open); // before the sender gets its answer, so that its next request isn't counted as parallel
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
