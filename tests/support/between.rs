//! A network between two processes that can cut, delay, stall and half-open the connections through it.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{broadcast, mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// How many bytes are forwarded at a time: few, so that a connection breaks off in the middle of a message.
const PIECE: usize = 700;

/// The maximum number of pieces in transit in each direction.
const UNDER_WAY: usize = 1_024;

/// How all connections behave until the weather changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Everything passes at once.
    Fair,
    /// Everything passes, but this much later.
    Slow(Duration),
    /// Nothing passes to the side that connected; its own bytes still pass.
    StalledDown,
    /// Nothing passes from the side that connected; the other side's bytes still pass.
    StalledUp,
}

/// How connections are ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both sides get a clean end (FIN).
    Fin,
    /// Both sides get a reset.
    Reset,
    /// Neither side notices: both sockets stay open, and nothing passes any more.
    HalfOpen,
}

/// A forwarder to an address that can disturb the connections through it.
pub struct Between {
    /// The address to connect to.
    pub address: SocketAddr,
    weather: watch::Sender<Weather>,
    cuts: broadcast::Sender<Cut>,
    accepted: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Between {
    /// Starts a forwarder to that address, in fair weather.
    pub async fn to(there: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (weather, cuts) = (watch::Sender::new(Weather::Fair), broadcast::Sender::new(16));
        let accepted = Arc::new(AtomicUsize::new(0));
        let (is, cut, count) = (weather.clone(), cuts.clone(), Arc::clone(&accepted));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((here, _)) = listener.accept().await {
                let (is, cut) = (is.subscribe(), cut.subscribe());
                count.fetch_add(1, Ordering::SeqCst);
                connections.spawn(async move {
                    if let Ok(there) = TcpStream::connect(there).await {
                        connection(here, there, is, cut).await;
                    }
                });
            }
        });
        Self { address, weather, cuts, accepted, _tasks: tasks }
    }

    /// Changes the weather for all connections, open and later.
    pub fn is(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// Ends all connections that are open now in this way; later ones are not affected. Returns how many there were.
    pub fn cut(&self, cut: Cut) -> usize {
        self.cuts.send(cut).unwrap_or(0)
    }

    /// Returns how many connections have been accepted so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// Forwards in both directions until both sides have ended or the connection is cut.
async fn connection(
    mut here: TcpStream,
    mut there: TcpStream,
    weather: watch::Receiver<Weather>,
    mut cuts: broadcast::Receiver<Cut>,
) {
    let cut = {
        let ((from_here, to_here), (from_there, to_there)) = (here.split(), there.split());
        let up = pass(from_here, to_there, weather.clone(), Weather::StalledUp);
        let down = pass(from_there, to_here, weather, Weather::StalledDown);
        tokio::select! {
            _ended = async { tokio::try_join!(up, down) } => return,
            cut = cuts.recv() => cut.unwrap_or(Cut::Reset),
        }
    };
    drop(cuts);
    match cut {
        Cut::Fin => {
            let _gone = tokio::join!(here.shutdown(), there.shutdown());
            let (mut sink, mut other) = (tokio::io::sink(), tokio::io::sink());
            // What the two sides still send is read, because unread bytes would turn the clean end into a reset.
            let _gone =
                tokio::join!(tokio::io::copy(&mut here, &mut sink), tokio::io::copy(&mut there, &mut other));
        }
        Cut::Reset => {
            let _gone = (here.set_zero_linger(), there.set_zero_linger());
        }
        Cut::HalfOpen => std::future::pending().await,
    }
}

/// Forwards one direction.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    weather: watch::Receiver<Weather>,
    stalled: Weather,
) -> io::Result<()> {
    let (queue, mut due) = mpsc::channel(UNDER_WAY);
    let mut is = weather.clone();
    let read = async move {
        loop {
            let mut bytes = vec![0; PIECE];
            let count = from.read(&mut bytes).await?;
            bytes.truncate(count);
            let latency = match *weather.borrow() {
                Weather::Slow(latency) => latency,
                _ => Duration::ZERO,
            };
            if count == 0 || queue.send((Instant::now() + latency, bytes)).await.is_err() {
                return io::Result::Ok(());
            }
        }
    };
    let write = async move {
        while let Some((at, bytes)) = due.recv().await {
            sleep_until(at).await;
            drop(is.wait_for(|weather| *weather != stalled).await);
            to.write_all(&bytes).await?;
        }
        to.shutdown().await
    };
    tokio::try_join!(read, write).map(drop)
}
