//! Keeps a program of the user's running that opens a public URL, as long as it is wanted.

use std::{pin::pin, sync::Arc, time::Duration};

use hookmitt_catch::{Limits, bind, catch};
use hookmitt_detour::{DetourError, Quick, QuickTunnel, Turn};
use hookmitt_event::{GapWhy, Slug};
use hookmitt_tunnel::{Backoff, slept};
use tokio::time::{self, Instant};

use super::door::OutsideDoor;
use crate::{
    EngineError,
    capture::Capture,
    own_addresses::OwnAddresses,
    tunnels::{running::Running, view::Trouble},
};

/// The longest pause before a program that ended is started again. Services turn away clients that keep asking for new
/// URLs.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// If a program ran for this long, the pauses between its starts begin anew.
const STEADY: Duration = Duration::from_secs(60);

/// The most bytes that may be in flight through one program.
const IN_FLIGHT: usize = 64 * 1024 * 1024;

/// Keeps a program running that leads here, until the tunnel is stopped.
pub(in crate::tunnels) async fn lead(
    capture: &Arc<Capture>,
    tunnel: i64,
    which: Quick,
    running: &Arc<Running>,
) {
    let (source, bound) = match (running.serves(), bind(Some("127.0.0.1"), 0)) {
        (Some(source), Ok(bound)) => (source, bound),
        (None, _) => {
            running.stuck(Trouble::of(&EngineError::NoTunnelSource), running.clock.now());
            return running.stop.cancelled().await;
        }
        (_, Err(error)) => {
            running.stuck(Trouble::of(&error), running.clock.now());
            return running.stop.cancelled().await;
        }
    };
    let (port, addresses) = (bound.port, bound.addresses());
    capture.settings.own.add(&addresses);
    let door =
        OutsideDoor { capture: Arc::clone(capture), running: Arc::clone(running), source: source.clone() };
    let limits = Limits { in_flight: IN_FLIGHT, ..Limits::default() };
    let taking = catch(bound, Arc::new(door), limits, running.stop.clone());
    let leading = Leading { own: &capture.settings.own, tunnel, which, port, source, running };
    tokio::join!(taking, leading.keep_running());
    capture.settings.own.remove(&addresses);
    capture.settings.own.leads_here(tunnel, None);
    running.ends(running.clock.now());
}

/// A program that is kept running.
struct Leading<'a> {
    own: &'a OwnAddresses,
    tunnel: i64,
    which: Quick,
    port: u16,
    source: Slug,
    running: &'a Running,
}

impl Leading<'_> {
    /// Starts the program, and starts it again whenever it ends.
    async fn keep_running(&self) {
        let stop = &self.running.stop;
        let mut backoff = Backoff::new(LONGEST_PAUSE);
        loop {
            let began = Instant::now();
            let started = stop.run_until_cancelled(QuickTunnel::start(self.which, self.port)).await;
            let why = match started {
                None => return,
                Some(Err(why)) => why,
                Some(Ok(program)) => match self.follow(program).await {
                    Some(why) => why,
                    None => return,
                },
            };
            self.running.breaks_off(self.running.clock.now(), why.why(), Trouble::of(&why));
            if began.elapsed() > STEADY {
                backoff.reset();
            }
            if stop.run_until_cancelled(time::sleep(backoff.pause())).await.is_none() {
                return;
            }
        }
    }

    /// Follows a running program until it ends, and returns why; `None` if it was stopped here.
    async fn follow(&self, mut program: QuickTunnel) -> Option<DetourError> {
        self.opens(program.url());
        let mut sleeping = pin!(slept());
        loop {
            let turn = tokio::select! {
                () = self.running.stop.cancelled() => {
                    program.stop().await;
                    return None;
                }
                turn = program.turn() => turn,
                since = &mut sleeping => {
                    sleeping.set(slept());
                    // The program may still be connected; if not, it reports that.
                    let words = "this computer was asleep";
                    self.running.breaks_off(since, GapWhy::Asleep, Trouble::new("program-cut", words, ""));
                    Turn::Up
                }
            };
            match turn {
                Turn::Up => self.opens(program.url()),
                Turn::Down(why) => {
                    self.running.breaks_off(self.running.clock.now(), why.why(), Trouble::of(&why));
                }
                Turn::Over(why) => {
                    program.stop().await;
                    return Some(why);
                }
            }
        }
    }

    /// Records the public URL. It is shown only after targets that lead there are refused (Threat 4).
    fn opens(&self, url: &str) {
        self.own.leads_here(self.tunnel, Some(url));
        self.running.opens(&format!("{url}/{}", self.source), self.running.clock.now());
    }
}
