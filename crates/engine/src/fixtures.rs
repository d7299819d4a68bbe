//! Events out to files, and back in.

use std::sync::Arc;

use hookmitt_event::{EventId, Explain as _, Slug, Verdict, Via};
use hookmitt_fixture::Fixture;
use hookmitt_inbox::{Filter, Route};
use serde::Serialize;

use crate::{Engine, EngineError, judged::Incoming, pages::Page};

/// An event as a file.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Exported {
    /// A file name, safe on every system.
    pub name: String,
    /// The event.
    #[schema(value_type = String, format = "uuid")]
    pub event_id: EventId,
    /// The file's text.
    pub content: String,
    /// The public test secret that it was signed anew with, since a secret of the owner's had signed it.
    pub signed_anew: Option<String>,
}

/// A file as an event.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Imported {
    /// The file's name, as it was given.
    pub name: String,
    /// The event.
    #[schema(value_type = String, format = "uuid")]
    pub event_id: EventId,
    /// The source that it went to.
    pub source: Slug,
    /// What verification found, as of the time when it was first received.
    pub verdict: Verdict,
    /// The event that it repeats.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub duplicate_of: Option<EventId>,
}

/// How many events one export holds at most.
const MOST: usize = 1_000;

impl Engine {
    /// Exports events as fixtures with their exact bytes, those excepted that a secret of the owner's has signed here.
    ///
    /// # Errors
    /// An unknown event; one that carries a signature which must not leave, and can't be made anew.
    pub async fn export_raw(&self, ids: Vec<EventId>) -> Result<Vec<Exported>, EngineError> {
        let mut all = Vec::with_capacity(ids.len());
        for id in ids {
            let event = self.inbox.event(id).await?;
            let kind = event.event_type.as_deref().unwrap_or("event");
            let kind: String = kind
                .chars()
                .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
                .take(60)
                .collect();
            let name = format!("{:06}-{}-{kind}.fixture.json", event.seq, event.source);
            let fixture = self.shareable(&event)?;
            let signed_anew = fixture.test_secret.clone().filter(|_| fixture.request != event.request);
            all.push(Exported { name, event_id: id, content: fixture.to_json(), signed_anew });
        }
        Ok(all)
    }

    /// The ids of a source's events, oldest first; at most a thousand, the newest.
    ///
    /// # Errors
    /// An unknown source.
    pub async fn ids_of(&self, source: &Slug) -> Result<Vec<EventId>, EngineError> {
        self.known(source)?;
        let filter = Filter { source: Some(source.to_string()), ..Filter::default() };
        let page = self.inbox.list(filter, None, MOST).await?;
        Ok(page.items.iter().rev().map(|listed| listed.event.id).collect())
    }

    /// Imports one file: judged anew, as of the time when it was first received; delivered only where `forward`.
    ///
    /// # Errors
    /// A file that is no fixture, with the place where it isn't.
    pub async fn import(
        &self,
        name: String,
        content: &[u8],
        source: Option<Slug>,
        forward: bool,
    ) -> Result<Imported, EngineError> {
        let fixture = Fixture::parse(content).map_err(|error| EngineError::Fixture {
            name: name.clone(),
            why: error.to_string(),
            hint: error.hint(),
        })?;
        let slug = source.unwrap_or_else(|| fixture.source.clone());
        self.ensure_source(&slug).await?;
        let known = Arc::clone(&self.known(&slug)?);
        let incoming = Incoming {
            url: None,
            request: fixture.to_request(),
            remote: None,
            received_at: fixture.received_at,
            via: Via::Import,
            page: Page::default(),
        };
        let mut arrival = known.judge(incoming).arrival;
        arrival.url = Some(fixture.url);
        arrival.provider = arrival.provider.or(fixture.provider);
        if !forward {
            arrival.route = Route::Nowhere;
        }
        let verdict = arrival.verdict;
        let stored = self.store(arrival, &known).await?;
        Ok(Imported { name, event_id: stored.id, source: slug, verdict, duplicate_of: stored.duplicate_of })
    }
}
