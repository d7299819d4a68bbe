//! The views: lists that people work through, whose events are found without reading all others.

use std::str::FromStr;

/// A view: a list of events that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Events that are invalid, or have a failed or dead delivery.
    NeedsAction,
    /// Events whose signature does not hold.
    Invalid,
    /// Events with a delivery that used up its attempts.
    DeadLetter,
    /// Events with a delivery that is held up, because its target is paused or nobody answers there.
    Waiting,
}

impl View {
    /// Every view with its name.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::NeedsAction, "needs_action"),
        (Self::Invalid, "invalid"),
        (Self::DeadLetter, "dead_letter"),
        (Self::Waiting, "waiting"),
    ];

    /// Returns a query for the sequence numbers of the view's events below `?1`. It reads only parts of indexes that
    /// hold just such events or deliveries.
    pub(crate) fn seqs(self) -> String {
        match self {
            Self::NeedsAction => format!("{INVALID} UNION {DEAD} UNION {FAILED}"),
            Self::Invalid => INVALID.to_owned(),
            Self::DeadLetter => DEAD.to_owned(),
            Self::Waiting => WAITING.to_owned(),
        }
    }

    /// Returns a query that counts the view's events.
    pub(crate) fn count_sql(self) -> String {
        format!("SELECT count(*) FROM ({})", self.seqs())
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(view, _)| *view).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("not a view: use one of {}", names.join(", "))
        })
    }
}

const INVALID: &str = "SELECT seq FROM event WHERE verdict = 1 AND deleted_at IS NULL AND seq < ?1";
const DEAD: &str = "SELECT DISTINCT event AS seq FROM delivery
    WHERE state IN (3, 4, 5) AND NOT binned AND state = 4 AND event < ?1";
const FAILED: &str = "SELECT DISTINCT event AS seq FROM delivery
    WHERE state IN (3, 4, 5) AND NOT binned AND state = 3 AND event < ?1";
const WAITING: &str = "SELECT DISTINCT event AS seq FROM delivery
    WHERE target IN (SELECT id FROM target WHERE removed_at IS NULL AND (paused OR down_since IS NOT NULL))
    AND state IN (0, 1) AND state = 0 AND event < ?1";
