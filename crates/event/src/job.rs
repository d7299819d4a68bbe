//! Jobs: work that takes long and that somebody asked for.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// The job waits until others have ended.
    Waiting,
    /// The job runs.
    Running,
    /// The job has done all of it. Some of it may have failed.
    Done,
    /// The job could not go on, and says why.
    Failed,
    /// A person cancelled the job. What it had done stays.
    Cancelled,
    /// The process in which the job ran has ended.
    Stopped,
}

impl JobState {
    /// Every state with its name. The inbox stores a state as its position here, from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Waiting, "waiting"),
        (Self::Running, "running"),
        (Self::Done, "done"),
        (Self::Failed, "failed"),
        (Self::Cancelled, "cancelled"),
        (Self::Stopped, "stopped"),
    ];

    /// Returns the name used in JSON and filters.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether the job waits or runs.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }

    /// Whether the job ended before it was done, so that it can go on.
    pub const fn can_go_on(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled | Self::Stopped)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl FromStr for JobState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(state, _)| *state).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("not a state of a job: use one of {}", names.join(", "))
        })
    }
}

/// What a job has changed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct JobResult {
    /// How many events were changed: deleted, restored or retried.
    pub events: u64,
    /// How many deliveries were changed with them: ended, or made to wait again.
    pub deliveries: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_stands_at_its_place_and_is_read_by_its_name() {
        for (place, (state, name)) in JobState::ALL.into_iter().enumerate() {
            assert_eq!((state as usize, state.as_str(), name.parse()), (place, name, Ok(state)));
        }
    }
}
