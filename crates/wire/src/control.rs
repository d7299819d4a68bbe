//! The JSON requests and answers under `/-/v1/`, sent by plain HTTP: open a tunnel with a token, join one with a code.
//!
//! `POST /-/v1/tunnels` with `Authorization: Bearer <token>` takes [`OpenTunnel`] and answers 201 with [`Opened`].
//! `POST /-/v1/join` takes [`Join`] and answers 200 with [`Joined`]. Keys are 32 bytes in base64 (standard, padded).
//! `GET /-/v1/tunnel` is the WebSocket. Errors are `application/problem+json` with `code` and `hint`.

use serde::{Deserialize, Serialize};

/// A request to open a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenTunnel {
    /// A reserved name (`[a-z0-9][a-z0-9-]{2,62}`). Without it, the relay makes up an unguessable name.
    #[serde(default)]
    pub name: Option<String>,
    /// The tunnel's X25519 public key, to which the relay seals letters.
    pub sealing_key: String,
    /// The device's Ed25519 public key.
    pub device_key: String,
    /// The device's display name, shown by `tunnel status`.
    pub device_name: String,
}

/// The answer to [`OpenTunnel`]: the tunnel is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The tunnel's name.
    pub tunnel: String,
    /// The tunnel's public URL, without a trailing slash; senders append `/<source>`.
    pub public_url: String,
}

/// A request of another device to join a tunnel.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The tunnel's name.
    pub tunnel: String,
    /// The one-time code from the invite.
    pub code: String,
    /// The device's Ed25519 public key.
    pub device_key: String,
    /// The device's display name.
    pub device_name: String,
}

impl std::fmt::Debug for Join {
    /// Leaves out the code.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Join")
            .field("tunnel", &self.tunnel)
            .field("device_name", &self.device_name)
            .finish_non_exhaustive()
    }
}

/// The header line in which a device may introduce itself already with its [`Join`] request.
///
/// The value has the content of a later [`AppFrame::Introduce`](crate::AppFrame::Introduce): the newest letter version
/// that the device reads, a space, and its proof in base64. A relay that does not know this line ignores it.
pub const INTRODUCTION_HEADER: &str = "hookmitt-introduction";

/// The answer to [`Join`]: the device takes part from now on.
pub type Joined = Opened;

/// An invite: all that a teammate's device needs to join. It is shown once, as one line of text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// The relay's URL.
    pub relay: String,
    /// The tunnel's name.
    pub tunnel: String,
    /// The tunnel's X25519 private key in base64. The relay never sees it.
    pub sealing_secret: String,
    /// The one-time code with which the device joins.
    pub code: String,
    /// The Ed25519 public key, in base64, of the device that opened the tunnel. New sealing keys are accepted only from
    /// that device. `None` in an invite that an earlier version made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl std::fmt::Debug for Invited {
    /// Leaves out the secrets.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Invited")
            .field("relay", &self.relay)
            .field("tunnel", &self.tunnel)
            .finish_non_exhaustive()
    }
}
