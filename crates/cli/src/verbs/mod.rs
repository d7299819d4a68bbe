//! The verbs, one file each.

pub(crate) mod completions;
pub(crate) mod confirm;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod listen;
pub(crate) mod relay;
mod relay_acme;
pub(crate) mod relay_store;
pub(crate) mod relay_token;
pub(crate) mod replay;
pub(crate) mod retry;
pub(crate) mod secret;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod source;
pub(crate) mod source_answer;
pub(crate) mod source_settings;
pub(crate) mod target;
pub(crate) mod tunnel;
mod tunnel_add;
mod tunnel_devices;
pub(crate) mod url;
pub(crate) mod verify;
