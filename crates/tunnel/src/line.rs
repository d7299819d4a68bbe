//! The handle by which others speak to a tunnel that is being kept.

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

/// How long the relay may take for what it is asked.
const PATIENCE: Duration = Duration::from_secs(10);

/// A one-time code with which another device joins.
#[derive(Clone, PartialEq, Eq)]
pub struct Invite {
    /// The code.
    pub code: String,
    /// When it ends.
    pub until: Timestamp,
}

impl std::fmt::Debug for Invite {
    /// Without the code.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Invite").field("until", &self.until).finish_non_exhaustive()
    }
}

/// Speaks to the tunnel that it was given to in [`Options`](crate::Options). Clones are the same line.
#[derive(Clone, Debug, Default)]
pub struct Line(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    nudge: Notify,
    session: Mutex<Option<mpsc::Sender<Command>>>,
}

/// What a session is asked.
#[derive(Debug)]
pub(crate) enum Command {
    Invite(oneshot::Sender<Invite>),
    Leave(oneshot::Sender<()>),
    Devices(Reply<Devices>),
    Revoke(Turn, Reply<()>),
}

/// Where an answer goes that may be none.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, TunnelError>>;

/// Who takes part in a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices {
    /// By which letters are sealed now.
    pub sealing_key: [u8; 32],
    /// The devices, the oldest first.
    pub devices: Vec<TunnelDevice>,
}

impl Line {
    /// A line that nobody listens to yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls the relay at once where there is no connection, and asks whether it is there where there is one.
    pub fn nudge(&self) {
        self.0.nudge.notify_one();
    }

    /// A code for another device.
    ///
    /// # Errors
    /// [`TunnelError::NotConnected`]; [`TunnelError::Slow`] after 10 s.
    pub async fn invite(&self) -> Result<Invite, TunnelError> {
        self.ask(Command::Invite).await
    }

    /// Takes this device out of the tunnel: its cursor and key are forgotten at the relay, and [`keep`](crate::keep) ends.
    ///
    /// # Errors
    /// [`TunnelError::NotConnected`]; [`TunnelError::Slow`] after 10 s.
    pub async fn leave(&self) -> Result<(), TunnelError> {
        self.ask(Command::Leave).await
    }

    /// The devices of the tunnel.
    ///
    /// # Errors
    /// As [`invite`](Self::invite); [`TunnelError::OldRelay`].
    pub async fn devices(&self) -> Result<Devices, TunnelError> {
        self.ask(Command::Devices).await?
    }

    /// Turns a device out and the sealing key over. The new key opens letters here from now on.
    ///
    /// # Errors
    /// As [`devices`](Self::devices); [`TunnelError::Refused`] where the relay did not do it.
    pub async fn revoke(&self, turn: Turn) -> Result<(), TunnelError> {
        self.ask(|reply| Command::Revoke(turn, reply)).await?
    }

    pub(crate) async fn nudged(&self) {
        self.0.nudge.notified().await;
    }

    /// Takes commands from now on, until the guard is dropped.
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

/// As long as it lives, a session listens.
pub(crate) struct Listening(Line);

impl Drop for Listening {
    fn drop(&mut self) {
        *self.0.0.session.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
