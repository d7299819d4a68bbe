//! Joins the hands: captures, judges, stores, delivers; owns tasks and shutdown.

#[cfg(test)]
mod begun;
mod config;
mod delivered;
mod delivery;
mod edit;
mod engine;
mod error;
mod explain;
mod exported;
mod fixtures;
mod handshake;
mod hosts;
mod judged;
mod keep_going;
mod listening;
mod live;
mod own_addresses;
mod pages;
mod params;
mod pipeline;
mod proof;
mod providers;
mod published;
mod refusals;
mod rejudge;
mod replay;
mod resign;
mod respond;
mod retry;
mod sample;
mod secret_text;
mod secrets;
mod sources;
mod targets;
mod test_key;
mod tunnels;
mod urls;

pub use config::Config;
pub use delivered::{Next, NotKept};
pub use delivery::owner;
pub use edit::Edit;
pub use engine::{Engine, Resources};
pub use error::EngineError;
pub use fixtures::{Exported, Imported};
pub use handshake::Confirmed;
pub use hookmitt_inbox::{
    Filter, Inbox, InboxError, Listed, Page, Place, Shown, SourceCount, SourceSettings, Stats,
    TargetSettings, View, ViewCounts,
};
pub use hookmitt_keys::Network;
pub use hookmitt_tunnel::TunnelError;
pub use hookmitt_vault::{StoreChoice, looks_like_variable};
pub use hosts::WithheldHost;
pub use listening::{ListenOrder, Listening};
pub use live::Change;
pub use providers::{ParamView, ProviderView};
pub use rejudge::JudgeBy;
pub use replay::{AttemptLine, Replayed};
pub use sample::{SampleOrder, Sent};
pub use secret_text::SecretText;
pub use secrets::SecretEntry;
pub use sources::{AnswerChange, SourceChange, SourceView};
pub use targets::{Probed, TargetChange};
pub use test_key::{PublicHalf, TestKey};
pub use tunnels::{
    DeviceView, GapView, Invitation, RefusedCount, Removed, RevokedDevice, Trouble, TunnelChange,
    TunnelOrder, TunnelState, TunnelView, UNASSIGNED, Waiting,
};
