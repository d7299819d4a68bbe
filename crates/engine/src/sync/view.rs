//! How backup sync of a source is shown.

use hookmitt_event::{Slug, SyncDelivery, Timestamp};
use hookmitt_sync::{Connector, Gives, KeyPlace};
use hookmitt_verify::Confidence;
use serde::Serialize;

use crate::settings::ConfiguredSource;

/// Backup sync of a source.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SyncView {
    /// The source.
    pub source: Slug,
    /// Whose API is asked, and how; null if nobody knows.
    pub connector: Option<ConnectorView>,
    /// Where its API key is: `keychain`, `file` or `env`; null if it has none.
    pub key: Option<&'static str>,
    /// The name of the environment variable, if `key` is `env`.
    pub key_env: Option<String>,
    /// What is done with an event that was missing.
    pub delivery: SyncDelivery,
    /// How many seconds pass between two syncs; 0 if it syncs only when it is asked to.
    pub every_s: u32,
    /// What it lacks to be synced, and what to do about it; null if nothing.
    pub lacks: Option<String>,
    /// Up to when everything that the provider lists was looked at.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub synced_until: Option<Timestamp>,
    /// Why the last sync ended early; null if it didn't.
    pub failed: Option<String>,
    /// In how many seconds it syncs by itself; null if it doesn't.
    pub due_in_s: Option<u64>,
    /// The job that syncs it now, or will.
    pub job: Option<i64>,
}

/// How one provider's API lists what it has sent.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ConnectorView {
    /// The provider's catalogue id; null for a connector of the user's own.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// How sure we are of what is said here: `confirmed` or `corroborated`; null for a connector of the user's own.
    #[schema(value_type = Option<String>)]
    pub confidence: Option<Confidence>,
    /// What it gives: `sent` (what was sent, which may be verified), `event`, or `object` (what an event was about).
    pub gives: &'static str,
    /// For how many days it lists what was sent; null if it doesn't say.
    pub days: Option<u32>,
    /// Where the API key is sent to, and nowhere else.
    pub hosts: Vec<String>,
    /// The least that the key must be allowed to do.
    pub scope: String,
    /// Where the key is made.
    pub key_hint: String,
    /// How the key is written.
    pub key_form: &'static str,
    /// What can't be recovered, and why.
    pub lost: Vec<String>,
    /// What it has to know besides the key.
    pub params: Vec<ConnectorParam>,
}

/// Something that a connector has to know besides the key.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ConnectorParam {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Where to find it.
    pub hint: String,
    /// What it is set to.
    pub value: Option<String>,
    /// What is taken if it isn't set.
    pub default: Option<String>,
    /// Whether it may be left out.
    pub optional: bool,
}

impl ConnectorView {
    pub(super) fn of(connector: &Connector, known: &ConfiguredSource) -> Self {
        let set = |name: &String| {
            known.source.sync.params.get(name).or_else(|| known.source.params.get(name)).cloned()
        };
        let params = connector.params.iter().map(|param| ConnectorParam {
            value: set(&param.name),
            name: param.name.clone(),
            label: param.label.clone(),
            hint: param.hint.clone(),
            default: param.default.clone(),
            optional: param.optional,
        });
        Self {
            id: (!connector.is_own()).then(|| connector.id.clone()),
            name: connector.name.clone(),
            confidence: connector.confidence,
            gives: match connector.gives {
                Gives::Sent => "sent",
                Gives::Event => "event",
                Gives::Object => "object",
            },
            days: connector.days,
            hosts: connector.called_hosts(),
            scope: connector.key.scope.clone(),
            key_hint: connector.key.hint.clone(),
            key_form: match connector.key.sent {
                KeyPlace::Basic => "name:password",
                KeyPlace::ClientCredentials(_) => "id:secret",
                KeyPlace::Bearer | KeyPlace::Header(_) => "key",
            },
            lost: connector.lost.clone(),
            params: params.collect(),
        }
    }
}
