//! The filter of an event list.

use std::str::FromStr;

use hookmitt_engine::{Filter, View};
use hookmitt_event::{EventStatus, Timestamp, Verdict};
use hookmitt_search::{Pattern, Query, Test, WordKey};
use serde::Deserialize;
use utoipa::openapi::{Object, ObjectBuilder, schema::Type};

use crate::Problem;

/// Selects the events of a list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The source's slug.
    source: Option<String>,
    /// The most important state among the event's deliveries.
    #[param(schema_with = statuses)]
    status: Option<String>,
    /// What signature verification found.
    #[param(schema_with = verdicts)]
    verdict: Option<String>,
    /// A view: the events that need attention in one way.
    #[param(schema_with = views)]
    view: Option<String>,
    /// The event type; `*` matches anything.
    r#type: Option<String>,
    /// What to search for, in the search language.
    q: Option<String>,
    /// Only events received at this time or later, RFC 3339.
    since: Option<String>,
    /// Only events received before this time, RFC 3339.
    until: Option<String>,
    /// Only events with a higher sequence number than this.
    after: Option<i64>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of events, 1 to 1000; 100 by default.
    limit: Option<u32>,
    /// Leave out the duplicates that fold and whose first event is in the same list. A view shows all of its events.
    fold: bool,
    /// Whether each event has its `glance`.
    pub(crate) glance: bool,
}

/// Describes a parameter that is one of these names, for type generators. It is parsed as a string, so that our own
/// error says what is wrong with another name.
fn one_of(names: impl IntoIterator<Item = &'static str>) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build()
}

fn statuses() -> Object {
    one_of(EventStatus::ALL.map(|(_, name)| name))
}

fn verdicts() -> Object {
    one_of(Verdict::ALL.map(|(_, name)| name))
}

fn views() -> Object {
    one_of(View::ALL.map(|(_, name)| name))
}

/// The longest type to ask for, in bytes.
const LONGEST: usize = 1_000;

impl Wanted {
    /// Asks for what a live stream may ask for.
    pub(crate) fn of(q: Option<String>, source: Option<String>, view: Option<String>, fold: bool) -> Self {
        Self { q, source, view, fold, ..Self::default() }
    }

    pub(crate) fn filter(&self) -> Result<Filter, Problem> {
        let moment = |text: &Option<String>| -> Result<Option<Timestamp>, Problem> {
            let parsed = text.as_deref().map(str::parse::<Timestamp>).transpose();
            parsed.map_err(|error| Problem::bad_input(error.to_string(), "such as 2026-01-31T12:00:00Z"))
        };
        let (from, to) = (moment(&self.since)?, moment(&self.until)?);
        let view = self.view.as_deref().map(str::parse).transpose().map_err(named)?;
        let mut query = Query::parse(self.q.as_deref().unwrap_or_default(), Timestamp::now())?;
        if let Some(status) = &self.status {
            query.and(Test::Status(status.parse().map_err(named)?));
        }
        if let Some(verdict) = &self.verdict {
            query.and(Test::Verdict(verdict.parse().map_err(named)?));
        }
        if let Some(kind) = &self.r#type {
            if kind.len() > LONGEST {
                let detail = format!("the type may have at most {LONGEST} bytes");
                return Err(Problem::bad_input(detail, "ask for a shorter one"));
            }
            query.and(Test::Word(WordKey::Type, Pattern::new(kind)));
        }
        if from.is_some() || to.is_some() {
            query.and(Test::Received { from, to });
        }
        let (source, after) = (self.source.clone(), self.after);
        Ok(Filter { source, view, query, after, fold: self.fold, glance: self.glance })
    }

    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        limit(self.limit).map(|limit| limit as usize)
    }

    pub(crate) fn cursor(&self) -> Result<Option<i64>, Problem> {
        cursor(self.cursor.as_deref())
    }
}

fn named(error: String) -> Problem {
    Problem::bad_input(error, "")
}

/// Reads a cursor.
pub(crate) fn cursor<C: FromStr>(text: Option<&str>) -> Result<Option<C>, Problem> {
    let cursor = text.map(str::parse).transpose();
    cursor.map_err(|_| Problem::bad_input("that isn't a cursor", "send next_cursor back unchanged"))
}

/// Returns how many events a page may hold.
pub(crate) fn limit(asked: Option<u32>) -> Result<u32, Problem> {
    match asked.unwrap_or(100) {
        limit @ 1..=1_000 => Ok(limit),
        other => {
            Err(Problem::bad_input(format!("{other} isn't a valid limit"), "use a limit from 1 to 1000"))
        }
    }
}
