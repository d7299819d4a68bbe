//! Which events a list is asked for, and the SQL that finds them.

use hookmitt_event::{EventStatus, Timestamp, Verdict};
use rusqlite::ToSql;

use crate::{View, deliveries::STATUS_RANK, rows::FOLDS};

/// Which events are wanted. A condition that is absent is not checked.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The slug of the event's source.
    pub source: Option<String>,
    /// The event's status.
    pub status: Option<EventStatus>,
    /// The event's verdict.
    pub verdict: Option<Verdict>,
    /// The event type: the exact type, its beginning up to a dot, or a pattern with `*`.
    pub event_type: Option<String>,
    /// Text in the type, title, path, query, header lines or body. ASCII letters match in either case.
    pub text: Option<String>,
    /// Only events received at this moment or later.
    pub since: Option<Timestamp>,
    /// Only events received before this moment.
    pub until: Option<Timestamp>,
    /// Only events of this view.
    pub view: Option<View>,
    /// Only events with a higher sequence number than this.
    pub after: Option<i64>,
    /// Whether events in the bin are wanted, and none but those.
    pub deleted: bool,
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

    fn append(&mut self, mut other: Self) {
        self.terms.append(&mut other.terms);
        self.values.append(&mut other.values);
    }

    pub(crate) fn sql(&self) -> String {
        self.terms.join(" AND ")
    }
}

impl Filter {
    /// Returns the conditions on an event `e` of a source `s`. Those of the view are left to [`candidates_sql`].
    pub(crate) fn conditions(&self) -> Conditions {
        let mut all = self.of("e");
        if let Some(source) = &self.source {
            all.add("s.slug = ?", source.clone());
        }
        if self.folds() {
            all.append(self.not_folded());
        }
        all
    }

    fn folds(&self) -> bool {
        self.fold && self.view.is_none() && !self.deleted
    }

    /// Whether every repeat that folds is left out unless its first is in the bin, because no condition can hold for the
    /// repeat alone.
    fn folds_every_repeat(&self) -> bool {
        self.folds() && !self.is_narrow()
    }

    /// Whether an event may be left out for something other than its source, view or fold.
    pub(crate) fn is_narrow(&self) -> bool {
        let Self { status, verdict, event_type, text, since, until, after, .. } = self;
        let by_content = status.is_some() || verdict.is_some() || event_type.is_some() || text.is_some();
        by_content || since.is_some() || until.is_some() || after.is_some()
    }

    /// Whether the candidates are all events that are not in the bin.
    pub(crate) fn wants_all(&self) -> bool {
        self.view.is_none() && self.source.is_none() && !self.folds_every_repeat() && !self.deleted
    }

    /// Returns the condition that an event `e` is not folded away beneath an event in the same list.
    fn not_folded(&self) -> Conditions {
        let Conditions { terms, values } = self.of("f");
        let first = format!("SELECT 1 FROM event f WHERE f.id = e.duplicate_of AND {}", terms.join(" AND "));
        Conditions { terms: vec![format!("(NOT e.flags & {FOLDS} OR NOT EXISTS ({first}))")], values }
    }

    /// Returns the conditions on an event of this name, without that on its source: a repeat has the source of its
    /// first.
    fn of(&self, event: &str) -> Conditions {
        let mut all = Conditions::default();
        let place = if self.deleted { "IS NOT NULL" } else { "IS NULL" };
        all.terms.push(format!("{event}.deleted_at {place}"));
        if let Some(verdict) = self.verdict {
            all.add(format!("{event}.verdict = ?"), verdict as i64);
        }
        if let Some(kind) = &self.event_type {
            all.add(format!("({event}.type || '.') GLOB ?"), type_pattern(kind));
        }
        if let Some(since) = self.since {
            all.add(format!("{event}.received_at >= ?"), since.as_micros());
        }
        if let Some(until) = self.until {
            all.add(format!("{event}.received_at < ?"), until.as_micros());
        }
        if let Some(after) = self.after {
            all.add(format!("{event}.seq > ?"), after);
        }
        if let Some(text) = &self.text {
            all.add(format!("({}) LIKE ? ESCAPE '\\'", texts(event)), format!("%{}%", escape_like(text)));
        }
        if let Some(status) = self.status {
            all.add(format!("coalesce({}, 6) = ?", rank(event)), status as i64);
        }
        all
    }
}

/// Returns the SQL for the place of an event's status in [`EventStatus::ALL`]; null without deliveries.
pub(crate) fn rank(event: &str) -> String {
    format!("(SELECT min({STATUS_RANK}) FROM delivery WHERE event = {event}.seq)")
}

/// Returns the SQL for everything of an event in which a text is looked for.
fn texts(e: &str) -> String {
    format!(
        "coalesce({e}.type, '') || ' ' || coalesce({e}.title, '') || ' ' || {e}.path || ' ' ||
        coalesce({e}.query, '') || ' ' || CAST({e}.headers AS TEXT) || ' ' || CAST({e}.body AS TEXT)"
    )
}

/// Returns the GLOB pattern for a type with a dot after it: `push` finds `push`, `invoice` also finds `invoice.paid`,
/// and `*` stands for anything.
fn type_pattern(kind: &str) -> String {
    format!("{}.*", kind.replace('[', "[[]").replace('?', "[?]"))
}

fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
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
        _ if filter.deleted => BINNED.to_owned(),
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
