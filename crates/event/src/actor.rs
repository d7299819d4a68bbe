//! Who or what changed something, and what they did.

use serde::{Deserialize, Serialize};

/// Who or what deleted, changed or sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A person, in the desktop window.
    Window,
    /// A person, on the page in a browser.
    Page,
    /// A hookmitt command.
    Cli,
    /// A program that has the API's token.
    Api,
    /// `hookmitt up`, by a project's file.
    Up,
    /// The inbox's own retention.
    Retention,
    /// The schedule by which sources are synced.
    Schedule,
}

impl Actor {
    /// All actors with their names. The inbox stores one as its position here, from 0.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Window, "window"),
        (Self::Page, "page"),
        (Self::Cli, "cli"),
        (Self::Api, "api"),
        (Self::Up, "up"),
        (Self::Retention, "retention"),
        (Self::Schedule, "schedule"),
    ];

    /// Returns the actor's name.
    pub const fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl std::str::FromStr for Actor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(actor, _)| actor).ok_or_else(|| {
            format!("nobody is called {text:?}: use {}", Self::ALL.map(|(_, name)| name).join(", "))
        })
    }
}

/// What was done, as the audit trail names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Events were moved to the bin.
    Deleted,
    /// An event was taken out of the bin.
    Restored,
    /// Events were deleted for good.
    DeletedForGood,
    /// Events were exported with their exact bytes, secrets included.
    ExportedRaw,
    /// A set-up request was confirmed.
    Confirmed,
    /// An event was replayed to a URL that is none of its targets.
    ReplayedElsewhere,
    /// A source was added.
    SourceAdded,
    /// A source's settings were changed.
    SourceChanged,
    /// A source was removed.
    SourceRemoved,
    /// A secret was set.
    SecretSet,
    /// A secret was removed.
    SecretRemoved,
    /// A target was added.
    TargetAdded,
    /// A target was changed.
    TargetChanged,
    /// A target was removed.
    TargetRemoved,
    /// A device was revoked that took part in a tunnel.
    DeviceRevoked,
    /// It was changed how long events are kept.
    RetentionChanged,
    /// A backup of the inbox was made.
    BackedUp,
    /// A backup was restored as the inbox.
    RestoredBackup,
    /// An API key was stored.
    ApiKeySet,
    /// An API key was removed.
    ApiKeyRemoved,
    /// Backup sync added events that never came.
    Synced,
}

impl Deed {
    /// All deeds with their names. The inbox stores one as its position here, from 0.
    pub const ALL: [(Self, &'static str); 21] = [
        (Self::Deleted, "deleted"),
        (Self::Restored, "restored"),
        (Self::DeletedForGood, "deleted_for_good"),
        (Self::ExportedRaw, "exported_raw"),
        (Self::Confirmed, "confirmed"),
        (Self::ReplayedElsewhere, "replayed_elsewhere"),
        (Self::SourceAdded, "source_added"),
        (Self::SourceChanged, "source_changed"),
        (Self::SourceRemoved, "source_removed"),
        (Self::SecretSet, "secret_set"),
        (Self::SecretRemoved, "secret_removed"),
        (Self::TargetAdded, "target_added"),
        (Self::TargetChanged, "target_changed"),
        (Self::TargetRemoved, "target_removed"),
        (Self::DeviceRevoked, "device_revoked"),
        (Self::RetentionChanged, "retention_changed"),
        (Self::BackedUp, "backed_up"),
        (Self::RestoredBackup, "restored_backup"),
        (Self::ApiKeySet, "api_key_set"),
        (Self::ApiKeyRemoved, "api_key_removed"),
        (Self::Synced, "synced"),
    ];

    /// Returns the deed's name.
    pub const fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl std::str::FromStr for Deed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(deed, _)| deed).ok_or_else(|| {
            format!("nothing is called {text:?}: use {}", Self::ALL.map(|(_, name)| name).join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_again_where_it_is_stored() {
        for (place, (actor, name)) in Actor::ALL.into_iter().enumerate() {
            assert_eq!((actor as usize, name.parse()), (place, Ok(actor)));
        }
        for (place, (deed, name)) in Deed::ALL.into_iter().enumerate() {
            assert_eq!((deed as usize, name.parse()), (place, Ok(deed)));
        }
    }
}
