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
    #[error("the store can't keep up with writing")]
    Overloaded,
    /// The name is or was in use by another tunnel. Names that were in use are never given out again.
    #[error("the tunnel name {0} is taken")]
    NameTaken(String),
    /// The token has as many tunnels as it may have, including those shut within the last day.
    #[error("this token has reached its limit of tunnels: {0}, including those closed within a day")]
    TooManyTunnels(u32),
    /// The tunnel has as many devices as it may have.
    #[error("this tunnel has reached its limit of devices: {0}")]
    TooManyDevices(usize),
    /// The token was revoked, so it gets no new secret.
    #[error("the token {0} is revoked, and its tunnels are closed")]
    TokenRevoked(String),
    /// The caller may not revoke this device: only the device that opened the tunnel revokes others, and never itself.
    #[error("only the device that opened the tunnel can revoke its devices, and it can't revoke itself")]
    NotOwner,
    /// The tunnel's devices or its sealing key are not those that the revocation names.
    #[error("the tunnel's devices have changed in the meantime")]
    Changed,
    /// There is no such tunnel, device, token or code. For a code it can also mean that it was used or has expired.
    #[error("there is no {what} {name}")]
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
    #[error("another relay uses {0}")]
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
            Self::TokenRevoked(_) => "token-revoked",
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
                "start the apps on all its devices to empty the mailbox, or raise the relay's quota"
                    .to_owned()
            }
            Self::DiskFull => "free some space on the relay's disk: 32 MiB (or an eighth of a small disk) are \
                               reserved for what is already waiting".to_owned(),
            Self::Overloaded | Self::Failed(_) | Self::Closed => "try again in a moment".to_owned(),
            Self::NameTaken(_) => "choose another name, or none to get a random one".to_owned(),
            Self::TooManyTunnels(_) => {
                "use one of its tunnels, try again a day after one is removed, or use another token (`hookmitt \
                 relay token create --tunnels N`)".to_owned()
            }
            Self::TooManyDevices(_) => {
                "revoke one that isn't needed (`hookmitt tunnel devices`, `hookmitt tunnel revoke`), or raise the relay's --devices"
                    .to_owned()
            }
            Self::TokenRevoked(_) => "create another one with `hookmitt relay token create`".to_owned(),
            Self::NotOwner => "do this on the computer where the tunnel was added".to_owned(),
            Self::Changed => "check the devices and try again".to_owned(),
            Self::Unknown { .. } => return None,
            Self::InUse(_) => {
                "stop that relay first, or give this one its own --store; relays that run in parallel share nats://…"
                    .to_owned()
            }
            Self::Open { .. } => "check the path or URL of --store and its permissions".to_owned(),
        })
    }
}
