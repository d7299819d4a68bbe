//! What signature verification found.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What signature verification found out about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The signature matches one of the source's secrets, and its timestamp is within the limit.
    Valid,
    /// There is a signature or token, but it is not valid. The causes say why.
    Invalid,
    /// There is no signature or token at all, whether or not the source has a secret.
    Unsigned,
    /// There is a signature, but the source has no secret to verify it with.
    NoSecret,
    /// The provider is known, but its signature scheme is not supported.
    Unsupported,
    /// A key that the provider publishes is being fetched.
    Pending,
}

impl Verdict {
    /// Every verdict with its name. The inbox stores a verdict as its position here, from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Valid, "valid"),
        (Self::Invalid, "invalid"),
        (Self::Unsigned, "unsigned"),
        (Self::NoSecret, "no_secret"),
        (Self::Unsupported, "unsupported"),
        (Self::Pending, "pending"),
    ];

    /// Returns the name used in JSON, filters and headers.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(verdict, _)| *verdict).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("not a verdict: use one of {}", names.join(", "))
        })
    }
}

/// Why a signature is not valid, and what to do about it. In lists, the likeliest cause comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Cause {
    /// A stable code such as `body_reserialized`.
    pub code: String,
    /// The cause's name for people, if the verdict was explained: `Secret of stripe-live fits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What was found, as a sentence.
    pub message: String,
    /// What to do about it, as a sentence.
    pub fix: String,
}
