//! Joins the other crates: captures, verifies, stores and delivers events; owns the tasks and their shutdown.
//!
//! [`Engine`] consists of parts, each of which gets only what it needs. `base` (inbox, clock, tasks) is beneath all of
//! them; then come `settings`, `judging`, `confirmation`, `verdicts`, `capture`, `delivery`, `manage`, `replay`,
//! `fixtures`, `tunnels`, `keeping`, `jobs`. `search` and `upkeep` stand on `base` alone.

mod base;
#[cfg(test)]
mod begun;
mod capture;
mod confirmation;
mod delivery;
mod engine;
mod error;
mod figures;
mod fixtures;
mod flaws;
mod host_name;
mod jobs;
mod judging;
mod keeping;
mod live;
mod manage;
mod not_kept;
mod others;
mod own_addresses;
mod replay;
mod search;
mod secret_text;
mod settings;
mod sync;
mod tasks;
mod tunnels;
mod unencrypted;
mod upkeep;
mod verdicts;
mod warnings;

pub use capture::CapturePort;
pub use confirmation::{Confirmation, Confirmed};
pub use delivery::owner;
pub use engine::{Engine, Resources};
pub use error::EngineError;
pub use figures::{Backlogs, Disk};
pub use fixtures::{Exported, Fixtures, Imported};
pub use flaws::Flaw;
pub use hookmitt_inbox::{
    AuditFilter, AuditPage, BackupNote, By as HistoryBy, CHECKED_FOR, Captured, Checked, Day, DayPart,
    Entry as AuditEntry, EventRef, Failure, Filter, Group, History, Inbox, InboxError, Job, JobFailure,
    JobPage, Lag, Listed, ListedLine, ListedPage, ListedPlace, Meter, Page, Paused, Period, Prunable,
    Quantiles, Recovered, Refused, ReportPage, Restoring, SCHEMA, SavedSearch, Shown, SourceCount,
    SourceSettings, Stats, Sums, SyncReport, TargetSettings, Times, TrashPage, TrashPlace, Trashed, View,
    ViewCounts, WhyGoes, WouldGo, acting,
};
pub use hookmitt_keys::Network;
pub use hookmitt_tunnel::TunnelError;
pub use hookmitt_vault::{StoreChoice, looks_like_variable};
pub use host_name::is_near_host;
pub use jobs::{BackupAsked, JobKind, Jobs, Which};
pub use keeping::{KeepChange, Keeping, MarkChange, Marking, Trash};
pub use live::Change;
pub use manage::{
    AnswerChange, DeliveredSecrets, ListenRequest, Listeners, Listening, Next, ParamView, Probed,
    ProviderView, PublicHalf, SecretEntry, Secrets, SourceChange, SourceView, Sources, TargetChange, Targets,
    TestKey, TestKeys, provider_views,
};
pub use not_kept::NotKept;
pub use replay::{
    AttemptLine, Edit, NotRetried, Replay, Replayed, Replays, Retried, Retries, SampleRequest, Samples, Sent,
    StoppedCount, WithheldHost, WithheldHosts,
};
pub use search::Search;
pub use secret_text::SecretText;
pub use settings::{Config, ConfiguredSource, NamedSource};
pub use sync::{
    AwayView, ConnectorParam, ConnectorView, Sync, SyncAsked, SyncAskedBy, SyncChange, SyncError,
    SyncRequest, SyncView,
};
pub use tunnels::{
    Announced, Backlog, DeviceView, GapView, Invitation, PublicRequest, RefusedCount, Removed, RevokedDevice,
    Trouble, TunnelChange, TunnelRequest, TunnelState, TunnelView, Tunnels, UNASSIGNED,
};
pub use verdicts::{JudgeBy, Verdicts};
