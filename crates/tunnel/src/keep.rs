//! Keeps a tunnel connected, and reports its true state at every moment.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use hookmitt_call::Stream;
use hookmitt_event::{GapWhy, Timestamp};
use hookmitt_seal::Opener;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use crate::{
    Credentials, Options, Recipient, State, TunnelError,
    backoff::Backoff,
    clock::{Jumps, TICK},
    dial::{Dialled, dial},
    hello::{Welcomed, hello},
    session::{self, Ended, Shared},
};

/// Keeps a tunnel until `stop` is cancelled or the device has [left](crate::Line::leave) it: hands its letters to
/// `recipient`, reconnects when needed, and reports its state.
///
/// When it stops, letters that are being stored get two seconds to finish and be acknowledged.
pub async fn keep<R: Recipient>(
    credentials: Credentials,
    recipient: Arc<R>,
    stop: CancellationToken,
    options: Options,
) {
    let opener = match Opener::new(&credentials.sealing, &credentials.tunnel) {
        Ok(opener) => Arc::new(opener),
        Err(error) => {
            recipient.state(State::Refused { error: error.into() });
            return stop.cancelled().await;
        }
    };
    opener.add(&credentials.sealing_keys());
    let (tunnel, known) = (credentials.tunnel.clone(), credentials.clone());
    let (key_fits, runs) = (AtomicBool::new(false), AtomicU64::new(0));
    let shared =
        Arc::new(Shared { tunnel, opener, credentials: known, recipient, options, stop, key_fits, runs });
    let since = shared.options.offline_since.unwrap_or_else(|| shared.options.clock.now());
    let mut keeper = Keeper {
        backoff: Backoff::new(shared.options.pace.longest_pause),
        outage: Outage { since, error: None, attempts: 0 },
        peer: None,
        credentials,
        shared,
    };
    Box::pin(keeper.run()).await;
}

struct Keeper<R> {
    credentials: Credentials,
    shared: Arc<Shared<R>>,
    backoff: Backoff,
    outage: Outage,
    /// The relay's last known address.
    peer: Option<SocketAddr>,
}

/// The time without a connection.
struct Outage {
    since: Timestamp,
    /// The latest error.
    error: Option<TunnelError>,
    attempts: u32,
}

/// What to do next.
enum Next {
    /// Connect.
    Call,
    /// Connect after this pause.
    Wait(Duration),
    /// End, because the tunnel should stop.
    End,
    /// End, because the device has left the tunnel.
    Gone,
}

impl<R: Recipient> Keeper<R> {
    async fn run(&mut self) {
        let stop = self.shared.stop.clone();
        loop {
            let next = match self.call().await {
                Some(Ok(welcomed)) => self.talk(welcomed).await,
                Some(Err(error)) => self.failed(error),
                None => Next::End,
            };
            match next {
                Next::Call => {}
                Next::Wait(pause) => self.wait(pause).await,
                Next::End => break,
                Next::Gone => return,
            }
            if stop.is_cancelled() {
                break;
            }
        }
        let since = self.shared.options.clock.now();
        let closed = State::Offline { since, why: GapWhy::AppClosed, error: None, next_try: None };
        self.shared.recipient.state(closed);
    }

    /// Connects to the relay. Returns `None` if the tunnel should stop meanwhile.
    async fn call(&mut self) -> Option<Result<Welcomed<Box<dyn Stream>>, TunnelError>> {
        self.outage.attempts += 1;
        let Outage { attempts: attempt, error: last_error, .. } = &self.outage;
        self.shared.recipient.state(State::Connecting { attempt: *attempt, last_error: last_error.clone() });
        let stop = self.shared.stop.clone();
        let called = Box::pin(async {
            let limit = self.shared.options.pace.hello;
            let slow = TunnelError::Slow(limit);
            let dialled = timeout(limit, dial(&self.credentials.relay, &self.shared.options.network)).await;
            let Dialled { stream, peer } = dialled.unwrap_or(Err(slow.clone()))?;
            self.peer = Some(peer);
            let welcomed = timeout(limit, hello(stream, &self.credentials, &self.shared.options)).await;
            welcomed.unwrap_or(Err(slow))
        });
        tokio::select! {
            called = called => Some(called),
            () = stop.cancelled() => None,
        }
    }

    async fn talk(&mut self, welcomed: Welcomed<Box<dyn Stream>>) -> Next {
        info!(tunnel = self.shared.tunnel, "connected to the relay");
        let began = Instant::now();
        let (ended, heard) = session::run(welcomed, self.peer, Arc::clone(&self.shared)).await;
        debug!(tunnel = self.shared.tunnel, ?ended, "the connection was closed");
        if began.elapsed() >= self.shared.options.pace.heartbeat {
            self.backoff.reset();
        }
        self.outage = Outage { since: heard, error: None, attempts: 0 };
        match ended {
            Ended::Stopped => Next::End,
            Ended::Left => Next::Gone,
            Ended::Slept(since) => self.at_once(since, GapWhy::Asleep),
            Ended::Moved => self.at_once(heard, GapWhy::Network),
            Ended::Lost(error) => self.failed(error),
        }
    }

    /// Reconnects without a pause: the old connection is useless, but a new one may work.
    fn at_once(&mut self, since: Timestamp, why: GapWhy) -> Next {
        self.outage.since = since;
        self.backoff.reset();
        self.offline(why, None);
        Next::Call
    }

    fn failed(&mut self, error: TunnelError) -> Next {
        debug!(tunnel = self.shared.tunnel, %error, "no connection");
        let why = self.why(&error);
        self.outage.error = Some(error.clone());
        if error.needs_a_person() {
            self.shared.recipient.state(State::Refused { error });
            return Next::Wait(self.shared.options.pace.refused_pause);
        }
        let pause = self.backoff.pause();
        self.offline(why, Some(pause));
        Next::Wait(pause)
    }

    /// Returns why there is no connection. A relay that isn't heard, or whose name isn't found, shows nothing of the
    /// network; the routing table does.
    fn why(&self, error: &TunnelError) -> GapWhy {
        match error.why() {
            GapWhy::NoAnswer | GapWhy::UnknownName if self.way().is_none() => GapWhy::Network,
            why => why,
        }
    }

    fn offline(&self, why: GapWhy, pause: Option<Duration>) {
        let now = self.shared.options.clock.now();
        self.shared.recipient.state(State::Offline {
            since: self.outage.since,
            why,
            error: self.outage.error.clone(),
            next_try: pause.map(|pause| now.after(pause)),
        });
    }

    /// Waits before the next connection. The wait ends early if the machine woke up, the network changed, or somebody
    /// calls [`Line::nudge`](crate::Line::nudge).
    async fn wait(&mut self, pause: Duration) {
        let until = Instant::now() + pause;
        let line = self.shared.options.line.clone();
        let way = self.way();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut jumps = Jumps::new(Arc::clone(&self.shared.options.clock));
        loop {
            tokio::select! {
                () = self.shared.stop.cancelled() => return,
                () = sleep_until(until) => return,
                () = line.nudged() => return,
                _ = tick.tick() => {}
            }
            let found = self.way();
            if jumps.look().is_some() || (found.is_some() && found != way) {
                self.backoff.reset();
                return;
            }
        }
    }

    /// Returns the local address from which the relay is reached at the moment.
    fn way(&self) -> Option<IpAddr> {
        self.shared.options.network.way_to(self.peer)
    }
}
