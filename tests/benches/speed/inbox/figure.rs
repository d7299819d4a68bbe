//! What was measured, as a list of figures.

use super::sample::Times;

/// A part of the benchmark, which ARGS can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Start,
    Disk,
    Lists,
    Keys,
    Pairs,
    Text,
    Unindexed,
    Deleted,
    Indexing,
    Beside,
    Sync,
}

impl Part {
    pub(super) const ALL: [(Self, &'static str); 11] = [
        (Self::Start, "start"),
        (Self::Disk, "disk"),
        (Self::Lists, "lists"),
        (Self::Keys, "keys"),
        (Self::Pairs, "pairs"),
        (Self::Text, "text"),
        (Self::Unindexed, "unindexed"),
        (Self::Deleted, "deleted"),
        (Self::Indexing, "indexing"),
        (Self::Beside, "beside"),
        (Self::Sync, "sync"),
    ];

    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(part, _)| *part)
    }

    pub(super) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(_, name)| *name).collect()
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether the part only asks a running server.
    pub(super) fn is_asked_for(self) -> bool {
        !matches!(self, Self::Start | Self::Disk | Self::Deleted | Self::Indexing | Self::Beside | Self::Sync)
    }
}

/// One figure.
pub(super) struct Figure {
    pub(super) part: Part,
    pub(super) name: String,
    /// `None` if the server doesn't know yet what was asked of it.
    pub(super) value: Option<f64>,
    /// The limit.
    pub(super) limit: Option<f64>,
    /// The times behind it.
    pub(super) times: Option<Times>,
}

/// The figures of one inbox, in the order in which they were measured.
#[derive(Default)]
pub(super) struct Figures(pub(super) Vec<Figure>);

impl Figures {
    pub(super) fn add(&mut self, part: Part, name: impl Into<String>, value: f64, limit: Option<f64>) {
        self.0.push(Figure { part, name: name.into(), value: Some(value), limit, times: None });
    }

    /// Adds the 95th percentile of times, in milliseconds.
    pub(super) fn add_times(
        &mut self,
        part: Part,
        name: impl Into<String>,
        times: Times,
        limit: Option<f64>,
    ) {
        let value = Some(times.p95);
        self.0.push(Figure { part, name: name.into(), value, limit, times: Some(times) });
    }

    /// Adds a figure that can't be measured yet.
    pub(super) fn add_missing(&mut self, part: Part, name: impl Into<String>, limit: Option<f64>) {
        self.0.push(Figure { part, name: name.into(), value: None, limit, times: None });
    }
}
