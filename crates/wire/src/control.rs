//! What is said by plain HTTP under `/-/v1/`, as JSON: a tunnel is opened with a token, a device joins with a code.
//!
//! `POST /-/v1/tunnels` with `Authorization: Bearer <token>` takes [`OpenTunnel`] and answers 201 [`Opened`];
//! `POST /-/v1/join` takes [`Join`] and answers 200 [`Joined`]. Keys are base64 (standard, padded) of 32 bytes.
//! `GET /-/v1/tunnel` is the WebSocket. Errors are `application/problem+json` with `code` and `hint`.

use serde::{Deserialize, Serialize};

/// A tunnel is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenTunnel {
    /// A reserved name (`[a-z0-9][a-z0-9-]{2,62}`); an unguessable one is made up without.
    #[serde(default)]
    pub name: Option<String>,
    /// The tunnel's X25519 public key, by which the relay seals.
    pub sealing_key: String,
    /// The device's Ed25519 public key.
    pub device_key: String,
    /// What the device is called, for `tunnel status`.
    pub device_name: String,
}

/// A tunnel is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its name.
    pub tunnel: String,
    /// Its public URL, without a slash at its end; `/<source>` follows.
    pub public_url: String,
}

/// Another device wants to take part in a tunnel.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The tunnel's name.
    pub tunnel: String,
    /// The one-time code.
    pub code: String,
    /// The device's Ed25519 public key.
    pub device_key: String,
    /// What the device is called.
    pub device_name: String,
}

impl std::fmt::Debug for Join {
    /// Without the code.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Join")
            .field("tunnel", &self.tunnel)
            .field("device_name", &self.device_name)
            .finish_non_exhaustive()
    }
}

/// With a [`Join`] a device may say in this header line what it says as [`AppFrame::Introduce`](crate::AppFrame::Introduce)
/// later: the version of letters that it reads, a blank, and its proof in base64. A relay that knows nothing of it passes over it.
pub const INTRODUCTION_HEADER: &str = "hookmitt-introduction";

/// The device takes part from now on.
pub type Joined = Opened;

/// What a teammate is given: all that another device needs. Shown once, as one line of text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// The relay's URL.
    pub relay: String,
    /// The tunnel's name.
    pub tunnel: String,
    /// The tunnel's X25519 private key, base64: the relay never sees it.
    pub sealing_secret: String,
    /// The one-time code.
    pub code: String,
    /// The Ed25519 public key of the device that opened the tunnel, base64: new sealing keys are believed from it alone.
    /// None in an invite of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl std::fmt::Debug for Invited {
    /// Without what is secret in it.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Invited")
            .field("relay", &self.relay)
            .field("tunnel", &self.tunnel)
            .finish_non_exhaustive()
    }
}
