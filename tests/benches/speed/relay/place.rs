//! A relay, and an app with a tunnel through it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use rusqlite::Connection;

use crate::{
    folder::{DataDir, hookmitt, with_source},
    servers::{Server, binary, capture_address, start_hookmitt},
};

/// The path of the app's source at the relay: the tunnel's name and the source's slug.
pub(super) const PATH: &str = "/bench/github";

/// The longest wait. Nothing takes longer unless it hangs.
const LONG: Duration = Duration::from_secs(120);

/// How often a condition is checked.
const OFTEN: Duration = Duration::from_millis(1);

/// A running `hookmitt relay` with its store.
pub(super) struct Relay {
    pub(super) server: Server,
    log: Receiver<(Instant, String)>,
    pub(super) store: DataDir,
}

impl Relay {
    /// Starts a relay whose limits are off, or too high to be reached.
    pub(super) fn start(name: &str) -> anyhow::Result<Self> {
        let store = DataDir::new(name)?;
        let mut process = Command::new(binary()?)
            .args(["relay", "--listen", "127.0.0.1:0", "--rate", "0", "--openings", "0"])
            .args(["--quota-events", "100000000", "--quota-bytes", "1000000000000", "--data-dir"])
            .arg(store.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let mut output = BufReader::new(process.stderr.take().context("no output")?);
        let address = capture_address(&mut output)?;
        let (heard, log) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _unread = heard.send((Instant::now(), line));
            }
        });
        Ok(Self { server: Server { process, address }, log, store })
    }

    /// Makes a token that may open tunnels.
    pub(super) fn token(&self) -> anyhow::Result<String> {
        let create = ["relay", "token", "create", "--tunnels", "1000000"];
        Ok(hookmitt(self.store.path(), &create, "")?.trim().to_owned())
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Waits for the next log line with these words, and returns when it came.
    pub(super) fn says(&self, words: &str) -> anyhow::Result<Instant> {
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let (at, line) =
                self.log.recv_timeout(left).with_context(|| format!("the relay never said {words:?}"))?;
            if line.contains(words) {
                return Ok(at);
            }
        }
    }

    pub(super) fn db(&self) -> anyhow::Result<Connection> {
        open(&self.store.path().join("relay.db"))
    }

    /// Returns how many letters are stored.
    pub(super) fn letters(&self) -> anyhow::Result<i64> {
        Ok(self.db()?.query_row("SELECT count(*) FROM letter", [], |row| row.get(0))?)
    }
}

/// A relay, and the data directory of an app that has a tunnel through it. The app does not run at first.
pub(super) struct Place {
    pub(super) relay: Relay,
    pub(super) app: DataDir,
}

impl Place {
    /// Starts a relay and adds the tunnel, runs the app until the relay knows its source, and stops the app.
    pub(super) fn prepare() -> anyhow::Result<Self> {
        let relay = Relay::start("relay")?;
        let app = with_source("app")?;
        hookmitt(app.path(), &["tunnel", "add", &relay.url(), "--name", "bench"], &relay.token()?)?;
        let place = Self { relay, app };
        let app = place.start_app()?;
        let db = place.relay.db()?;
        until("the relay knows the source", || {
            let sources: String = db.query_row("SELECT sources FROM device", [], |row| row.get(0))?;
            Ok(sources.contains("github"))
        })?;
        drop(app);
        place.relay.says("a device has disconnected")?;
        Ok(place)
    }

    pub(super) fn start_app(&self) -> anyhow::Result<Server> {
        start_hookmitt(self.app.path())
    }

    pub(super) fn inbox(&self) -> anyhow::Result<Connection> {
        open(&self.app.path().join("inbox.db"))
    }
}

fn open(path: &Path) -> anyhow::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(Duration::from_secs(5))?;
    Ok(db)
}

/// Waits until a condition is true.
pub(super) fn until(what: &str, mut is_so: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let end = Instant::now() + LONG;
    while !is_so()? {
        if Instant::now() > end {
            bail!("never: {what}");
        }
        thread::sleep(OFTEN);
    }
    Ok(())
}
