//! The handle through which other code talks to a running tunnel.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;
use hookmitt_wire::TunnelDevice;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::timeout,
};

use crate::{TunnelError, Turn};

/// How long the relay may take to answer a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// A one-time code with which another device can join.
#[derive(Clone, PartialEq, Eq)]
pub struct Invite {
    /// The code.
    pub code: String,
    /// When it expires.
    pub until: Timestamp,
}

impl std::fmt::Debug for Invite {
    /// Leaves the code out.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Invite").field("until", &self.until).finish_non_exhaustive()
    }
}

/// Talks to the tunnel whose [`Options`](crate::Options) it was given to. Clones are the same line.
#[derive(Clone, Debug, Default)]
pub struct Line(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    nudge: Notify,
    session: Mutex<Option<mpsc::Sender<Command>>>,
}

/// A request to the session.
#[derive(Debug)]
pub(crate) enum Command {
    Announce(oneshot::Sender<()>),
    Invite(oneshot::Sender<Invite>),
    Leave(oneshot::Sender<()>),
    Devices(Reply<Devices>),
    Revoke(Turn, Reply<()>),
}

/// Where the answer to a request goes; it may be an error.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, TunnelError>>;

/// The devices of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices {
    /// The public key to which letters are sealed now.
    pub sealing_key: [u8; 32],
    /// The devices, oldest first.
    pub devices: Vec<TunnelDevice>,
}

impl Line {
    /// Creates a line that no tunnel uses yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects to the relay at once if there is no connection; if there is one, checks that the relay still answers.
    pub fn nudge(&self) {
        self.0.nudge.notify_one();
    }

    /// Tells the relay the current sources, and returns when it knows them.
    ///
    /// # Errors
    /// Returns [`TunnelError::NotConnected`] without a connection, and [`TunnelError::Slow`] after 10 s.
    pub async fn announce(&self) -> Result<(), TunnelError> {
        self.ask(Command::Announce).await
    }

    /// Asks for a code with which another device can join.
    ///
    /// # Errors
    /// Returns [`TunnelError::NotConnected`] without a connection, and [`TunnelError::Slow`] after 10 s.
    pub async fn invite(&self) -> Result<Invite, TunnelError> {
        self.ask(Command::Invite).await
    }

    /// Takes this device out of the tunnel: the relay forgets its cursor and key, and [`keep`](crate::keep) ends.
    ///
    /// # Errors
    /// Returns [`TunnelError::NotConnected`] without a connection, and [`TunnelError::Slow`] after 10 s.
    pub async fn leave(&self) -> Result<(), TunnelError> {
        self.ask(Command::Leave).await
    }

    /// Lists the devices of the tunnel.
    ///
    /// # Errors
    /// Like [`invite`](Self::invite); also [`TunnelError::OldRelay`].
    pub async fn devices(&self) -> Result<Devices, TunnelError> {
        self.ask(Command::Devices).await?
    }

    /// Revokes a device and replaces the sealing key. Letters that are sealed to the new key can be opened from now on.
    ///
    /// # Errors
    /// Like [`devices`](Self::devices); also [`TunnelError::Refused`] if the relay did not do it.
    pub async fn revoke(&self, turn: Turn) -> Result<(), TunnelError> {
        self.ask(|reply| Command::Revoke(turn, reply)).await?
    }

    pub(crate) async fn nudged(&self) {
        self.0.nudge.notified().await;
    }

    /// Accepts requests until the guard is dropped.
    pub(crate) fn listen(&self) -> (Listening, mpsc::Receiver<Command>) {
        let (sender, commands) = mpsc::channel(8);
        *self.0.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        (Listening(self.clone()), commands)
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, TunnelError> {
        let session = self.0.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let session = session.ok_or(TunnelError::NotConnected)?;
        let (sender, answer) = oneshot::channel();
        let asked = async {
            session.send(command(sender)).await.map_err(|_| TunnelError::NotConnected)?;
            answer.await.map_err(|_| TunnelError::NotConnected)
        };
        timeout(PATIENCE, asked).await.unwrap_or(Err(TunnelError::Slow(PATIENCE)))
    }
}

/// While this guard lives, a session accepts requests.
pub(crate) struct Listening(Line);

impl Drop for Listening {
    fn drop(&mut self) {
        *self.0.0.session.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
