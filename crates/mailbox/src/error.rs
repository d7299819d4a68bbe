//! The errors of the relay's store.

use hookmitt_event::Explain;

/// Why the store could not do what was asked. The numbers in parentheses are what the relay answers to senders.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MailboxError {
    /// The tunnel's quota is used up (507).
    #[error("the mailbox of this tunnel is full: {0}")]
    QuotaFull(&'static str),
    /// The disk is full (503).
    #[error("the disk that holds the mailboxes is full")]
    DiskFull,
    /// More writes wait than the store can take (503).
    #[error("the store has more waiting than it can write")]
    Overloaded,
    /// The name is or was in use by another tunnel. Names that were in use are never given out again.
    #[error("the tunnel name {0} is taken")]
    NameTaken(String),
    /// The token has as many tunnels as it may have, including those shut within the last day.
    #[error("this token has all the tunnels that it may have: {0}, with those closed within a day")]
    TooManyTunnels(u32),
    /// The tunnel has as many devices as it may have.
    #[error("this tunnel has all the devices that it may have: {0}")]
    TooManyDevices(usize),
    /// The caller may not revoke this device: only the device that opened the tunnel revokes others, and never itself.
    #[error("only the device that opened the tunnel revokes its devices, and not itself")]
    NotOwner,
    /// The tunnel's devices or its sealing key are not those that the revocation names.
    #[error("the tunnel's devices have changed meanwhile")]
    Changed,
    /// There is no such tunnel, device, token or code. For a code it can also mean that it was used or has expired.
    #[error("no {what} {name}")]
    Unknown {
        /// `tunnel`, `device`, `token` or `code`.
        what: &'static str,
        /// The name or id, never a secret.
        name: String,
    },
    /// The store can't be opened.
    #[error("can't open the store {store}: {why}")]
    Open {
        /// The path or URL of the store.
        store: String,
        /// What went wrong.
        why: String,
    },
    /// Another relay already serves this file.
    #[error("another relay serves {0}")]
    InUse(String),
    /// Any other failure; nothing was stored.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
}

impl Explain for MailboxError {
    fn code(&self) -> &'static str {
        match self {
            Self::QuotaFull(_) => "quota-full",
            Self::DiskFull => "disk-full",
            Self::Overloaded => "overloaded",
            Self::NameTaken(_) => "name-taken",
            Self::TooManyTunnels(_) => "too-many-tunnels",
            Self::TooManyDevices(_) => "too-many-devices",
            Self::NotOwner => "not-owner",
            Self::Changed => "devices-changed",
            Self::Unknown { .. } => "unknown",
            Self::Open { .. } => "store-unusable",
            Self::InUse(_) => "store-in-use",
            Self::Failed(_) => "store-failed",
            Self::Closed => "store-closed",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::QuotaFull(_) => {
                "start the apps of all its devices so that they drain the mailbox, or raise the relay's quota"
                    .to_owned()
            }
            Self::DiskFull => "make room on the relay's disk: 32 MiB (an eighth of a small one) are kept for what waits already".to_owned(),
            Self::Overloaded | Self::Failed(_) | Self::Closed => "try again in a moment".to_owned(),
            Self::NameTaken(_) => "choose another name, or none for one that is made up".to_owned(),
            Self::TooManyTunnels(_) => {
                "keep one of its tunnels, try again a day after one was removed, or use another token (`hookmitt relay token create --tunnels N`)".to_owned()
            }
            Self::TooManyDevices(_) => {
                "revoke one that isn't needed (`hookmitt tunnel devices`, `hookmitt tunnel revoke`), or raise the relay's --devices"
                    .to_owned()
            }
            Self::NotOwner => "do it on the computer on which the tunnel was added".to_owned(),
            Self::Changed => "look at the devices, and try again".to_owned(),
            Self::Unknown { .. } => return None,
            Self::InUse(_) => {
                "end that relay first, or give this one a --store of its own; relays beside each other share nats://…"
                    .to_owned()
            }
            Self::Open { .. } => "check the path or URL of --store and who may read it".to_owned(),
        })
    }
}
