//! Which events a list is asked for, and the SQL that finds those that may be in it.

use hookmitt_event::{EventStatus, Verdict};
use hookmitt_search::{Mark, Pattern, Query, Term, Test, WordKey};
use rusqlite::ToSql;

use crate::{View, rows::FOLDS};

/// Which events are wanted. A condition that is absent is not checked.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The slug of the event's source.
    pub source: Option<String>,
    /// Only events of this view.
    pub view: Option<View>,
    /// What is searched for.
    pub query: Query,
    /// Only events with a higher sequence number than this.
    pub after: Option<i64>,
    /// Whether repeats that fold are left out if their first event is in the same list. A view shows all of its events,
    /// because each of them needs attention.
    pub fold: bool,
    /// Whether each event gets its glance.
    pub glance: bool,
}

/// SQL conditions that must all hold, and the values for their places.
#[derive(Default)]
pub(crate) struct Conditions {
    terms: Vec<String>,
    pub(crate) values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    pub(crate) fn add(&mut self, term: impl Into<String>, value: impl ToSql + 'static) {
        self.terms.push(term.into());
        self.values.push(Box::new(value));
    }

    pub(crate) fn sql(&self) -> String {
        self.terms.join(" AND ")
    }
}

impl Filter {
    /// Returns the query together with the conditions of the source and the view, as far as a query can say them.
    pub fn whole_query(&self) -> Query {
        let mut query = self.query.clone();
        if let Some(source) = &self.source {
            query.and(Test::Word(WordKey::Source, Pattern::new(source)));
        }
        let dead = Test::Status(EventStatus::DeadLetter);
        match self.view {
            Some(View::NeedsAction) => {
                let any = vec![Test::Verdict(Verdict::Invalid), dead, Test::Status(EventStatus::Failed)];
                query.terms.push(Term { negated: false, any, place: 0..0 });
            }
            Some(View::Invalid) => query.and(Test::Verdict(Verdict::Invalid)),
            Some(View::DeadLetter) => query.and(dead),
            Some(View::Waiting) | None => {}
        }
        query
    }

    /// Returns the conditions on an event `e` of a source `s` that are left to SQL if nothing is searched for. Those of
    /// the view are left to [`candidates_sql`].
    pub(crate) fn conditions(&self) -> Conditions {
        let mut all = Conditions::default();
        all.terms.push("e.deleted_at IS NULL".to_owned());
        if let Some(source) = &self.source {
            all.add("s.slug = ?", source.clone());
        }
        if let Some(after) = self.after {
            all.add("e.seq > ?", after);
        }
        if self.folds() {
            let lowest = self.after.unwrap_or_default();
            let first =
                "SELECT 1 FROM event f WHERE f.id = e.duplicate_of AND f.deleted_at IS NULL AND f.seq > ?";
            all.add(format!("(NOT e.flags & {FOLDS} OR NOT EXISTS ({first}))"), lowest);
        }
        all
    }

    /// Whether repeats are folded beneath their first event.
    pub(crate) fn folds(&self) -> bool {
        self.fold && self.view.is_none()
    }

    /// Whether every repeat that folds is left out unless its first is in the bin, because no condition can hold for the
    /// repeat alone.
    fn folds_every_repeat(&self) -> bool {
        self.folds() && !self.is_narrow()
    }

    /// Whether an event may be left out for something other than its source, view or fold.
    pub(crate) fn is_narrow(&self) -> bool {
        !self.query.is_empty() || self.after.is_some()
    }

    /// Whether only events in the bin are wanted.
    fn is_of_bin(&self) -> bool {
        self.query.terms.iter().any(|term| !term.negated && term.any == [Test::Is(Mark::Deleted)])
    }

    /// Whether the candidates are all events that are not in the bin.
    pub(crate) fn wants_all(&self) -> bool {
        !self.query.wants_deleted()
            && self.view.is_none()
            && self.source.is_none()
            && !self.folds_every_repeat()
    }
}

/// Selects the events that don't fold and are not in the bin.
const STANDING: &str = "SELECT seq FROM event WHERE deleted_at IS NULL AND NOT flags & 16 AND seq < ?1";

/// Selects the repeats that fold and are not in the bin.
const FOLDED: &str = "SELECT seq FROM event WHERE deleted_at IS NULL AND flags & 16 AND seq < ?1";

/// Selects the events in the bin.
const BINNED: &str =
    "SELECT seq FROM event INDEXED BY event_binned WHERE deleted_at IS NOT NULL AND seq < ?1";

/// Selects the repeats that fold, but whose first is in the bin.
const LEFT_BEHIND: &str = "SELECT seq FROM left_behind WHERE seq < ?1";

const _: () = assert!(FOLDS == 16);

const OF_SOURCE: &str = "source = (SELECT id FROM source WHERE slug = ?3)";

/// Returns the query for the numbers of events that may match a filter, below `?1` and newest first, `?2` at most.
/// `?3` is the source, if the query has that place. It passes over nothing that is in the bin.
pub(crate) fn candidates_sql(filter: &Filter) -> String {
    let seqs = match (filter.view, &filter.source) {
        _ if filter.is_of_bin() => BINNED.to_owned(),
        _ if filter.query.wants_deleted() => format!("{BINNED} UNION ALL {STANDING} UNION ALL {FOLDED}"),
        (Some(view), _) => view.seqs(),
        (None, Some(_)) if filter.folds_every_repeat() => {
            format!("{STANDING} AND {OF_SOURCE} UNION ALL {LEFT_BEHIND} AND {OF_SOURCE}")
        }
        (None, None) if filter.folds_every_repeat() => format!("{STANDING} UNION ALL {LEFT_BEHIND}"),
        (None, Some(_)) => {
            format!("SELECT seq FROM event WHERE deleted_at IS NULL AND {OF_SOURCE} AND seq < ?1")
        }
        (None, None) => format!("{STANDING} UNION ALL {FOLDED}"),
    };
    format!("{seqs} ORDER BY seq DESC LIMIT ?2")
}
