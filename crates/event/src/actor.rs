//! Who or what changed something.

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
}

impl Actor {
    /// All actors with their names. The inbox stores one as its position here, from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Window, "window"),
        (Self::Page, "page"),
        (Self::Cli, "cli"),
        (Self::Api, "api"),
        (Self::Up, "up"),
        (Self::Retention, "retention"),
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
