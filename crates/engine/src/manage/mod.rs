//! Sources, secrets and targets, as people create, change and list them.

mod delivered;
mod hosts;
mod listening;
mod looks;
mod params;
mod providers;
mod secrets;
mod sources;
mod targets;
mod test_key;

pub use delivered::{DeliveredSecrets, Next};
pub(crate) use hosts::allowed_name;
pub use listening::{ListenRequest, Listeners, Listening};
pub use providers::{ParamView, ProviderView, provider_views};
pub use secrets::{SecretEntry, Secrets};
pub(crate) use sources::given;
pub use sources::{AnswerChange, SourceChange, SourceView, Sources};
pub use targets::{Probed, TargetChange, Targets};
pub use test_key::{PublicHalf, TestKey, TestKeys};
