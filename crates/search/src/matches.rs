//! Decides whether a query finds an event.

use std::{borrow::Cow, cell::OnceCell};

use crate::{
    Body, Mark, Pattern, Pointer, Query, Seen, Span, Term, Test, Text, WordKey,
    fold::fold,
    parts::{Part, parts},
    texts::{folded_texts, texts},
};

impl Query {
    /// Whether the query finds an event. What [`needs`](Self::needs) names must have been read.
    pub fn matches(&self, seen: &Seen<'_>) -> bool {
        if seen.event.deleted_at.is_some() && !self.wants_deleted() {
            return false;
        }
        let look = Look { query: self, seen, text: OnceCell::new(), parts: OnceCell::new() };
        let (costly, cheap): (Vec<_>, Vec<_>) = self.terms.iter().partition(|term| is_costly(term));
        cheap.iter().chain(&costly).all(|term| look.holds(term))
    }
}

/// Whether a term looks into the body.
fn is_costly(term: &Term) -> bool {
    term.any.iter().any(|test| matches!(test, Test::Text(_) | Test::Body(_)))
}

/// A look at one event. What is costly is read at the first test that asks for it, and once.
struct Look<'a> {
    query: &'a Query,
    seen: &'a Seen<'a>,
    text: OnceCell<String>,
    parts: OnceCell<Vec<(usize, Part)>>,
}

impl Look<'_> {
    fn holds(&self, term: &Term) -> bool {
        term.any.iter().any(|test| self.passes(test)) != term.negated
    }

    fn passes(&self, test: &Test) -> bool {
        let event = self.seen.event;
        match test {
            Test::Text(text) => self.has_text(text),
            Test::Word(key, pattern) => self.has_word(*key, pattern),
            Test::Verdict(verdict) => event.verdict == *verdict,
            Test::Status(status) => self.seen.status == *status,
            Test::Via(via) => event.via == *via,
            Test::Is(mark) => self.has_mark(*mark),
            Test::Header(name, pattern) => event
                .request
                .headers
                .get_all(name)
                .any(|value| pattern.matches(&String::from_utf8_lossy(value))),
            Test::Body(body) => self.has_part(body),
            Test::Size(span) => span.has(event.size),
            Test::Response(span) => self
                .seen
                .answers
                .iter()
                .filter_map(|answer| answer.status)
                .any(|status| span.has(status.into())),
            Test::Latency(span) => {
                let mut last = self.seen.answers.iter().filter(|answer| answer.last);
                last.any(|answer| u64::try_from(answer.took.as_micros()).is_ok_and(|took| span.has(took)))
            }
            Test::Received { from, to } => {
                from.is_none_or(|from| event.received_at >= from)
                    && to.is_none_or(|to| event.received_at < to)
            }
            Test::Number(span) => u64::try_from(event.seq).is_ok_and(|seq| span.has(seq)),
        }
    }

    fn has_word(&self, key: WordKey, pattern: &Pattern) -> bool {
        let event = self.seen.event;
        let is_like = |word: &str| pattern.finds(key, word);
        match key {
            WordKey::Source => is_like(event.source.as_str()),
            WordKey::Type => event.event_type.as_deref().is_some_and(is_like),
            WordKey::Provider => event.provider.as_deref().is_some_and(is_like),
            WordKey::Target => self.seen.targets.iter().any(|url| is_like(url)),
            WordKey::Method => is_like(&event.request.method),
            WordKey::Path => is_like(&event.request.path),
            WordKey::Tag => event.tags.iter().any(|tag| is_like(tag.as_str())),
        }
    }

    fn has_mark(&self, mark: Mark) -> bool {
        let event = self.seen.event;
        match mark {
            Mark::Duplicate => event.duplicate_of.is_some(),
            Mark::First => event.duplicate_of.is_none(),
            Mark::Conflict => event.conflict,
            Mark::Stale => event.stale,
            Mark::Pinned => event.pinned,
            Mark::Browser => event.browser,
            Mark::Edited => event.parent.is_some(),
            Mark::Handshake => event.handshake.is_some(),
            Mark::Deleted => event.deleted_at.is_some(),
        }
    }

    /// Whether one of the event's texts contains a text.
    fn has_text(&self, text: &Text) -> bool {
        let wanted = text.folded();
        if wanted.contains('\n') {
            // In the joined text it could begin in one text and end in the next.
            return texts(self.seen).any(|text: Cow<'_, str>| fold(&text).contains(wanted));
        }
        let all = self.text.get_or_init(|| {
            let mut all = String::with_capacity(self.seen.event.request.body.len() + 1_024);
            folded_texts(self.seen, &mut all);
            all
        });
        memchr::memmem::find(all.as_bytes(), wanted.as_bytes()).is_some()
    }

    fn has_part(&self, body: &Body) -> bool {
        let pointers = || self.query.terms.iter().flat_map(|term| &term.any).filter_map(pointer);
        let parts = self.parts.get_or_init(|| {
            let pointers: Vec<_> = pointers().collect();
            parts(&self.seen.event.request, &pointers)
        });
        let is_same = |at: usize| pointers().nth(at) == Some(&body.at);
        parts.iter().any(|(at, part)| is_same(*at) && part.compares(&body.is))
    }
}

fn pointer(test: &Test) -> Option<&Pointer> {
    match test {
        Test::Body(body) => Some(&body.at),
        _ => None,
    }
}

impl Pattern {
    /// Whether a word of an event is found by this pattern, as the value of a key.
    pub fn finds(&self, key: WordKey, word: &str) -> bool {
        match key {
            WordKey::Type => self.matches(word) || self.begins(word),
            WordKey::Target => self.is_in(word),
            _ => self.matches(word),
        }
    }
}

impl Span {
    /// Whether a number is within the bounds.
    pub fn has(self, number: u64) -> bool {
        (self.min..=self.max).contains(&number)
    }
}
