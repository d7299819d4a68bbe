//! How one page of a list leads to the next.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use crate::raw;

/// How one page leads to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Paging {
    /// There is one page.
    #[default]
    None,
    /// The answer has the `cursor` of the next page at a pointer; without one, it is the last.
    Cursor(String),
    /// The answer has the `cursor` of the next page at a pointer, as long as another leads to `true`, or to `false`.
    CursorWhile {
        /// Where the cursor is.
        at: String,
        /// Where it says that there is more.
        more: Option<String>,
        /// Where it says that this was all.
        done: Option<String>,
    },
    /// The `cursor` is the id of the page's last item, as long as a pointer leads to `true`.
    LastId(String),
    /// The `cursor` is the id of the page's last item, until a page has no items.
    UntilEmpty,
    /// The next `page` has the next number. A page without items is the last.
    Page {
        /// The first page's number.
        first: i64,
    },
    /// The next page begins at the next `offset`. A page with fewer items than that is the last.
    Offset {
        /// How many items a page has.
        size: i64,
    },
    /// The answer's Link line has the URL of the next page (RFC 8288).
    Link,
    /// The answer has the URL of the next page at a pointer.
    Url(String),
    /// The answer has a list of links at a pointer; the `href` of the one whose `rel` is `next` is the URL.
    Rel(String),
}

/// A place in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The cursor.
    pub cursor: Option<String>,
    /// The page's number.
    pub page: Option<i64>,
    /// How many items come before it.
    pub offset: Option<i64>,
    /// The whole URL.
    pub url: Option<Url>,
}

/// Why a list can't be read on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PagingError {
    /// A page leads to one that has been read.
    #[error("its pages lead in a circle")]
    Circle,
    /// The URL of the next page can't be called.
    #[error("the URL of its next page isn't one: {0}")]
    Url(String),
}

/// What an answer says about its place in the list.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The whole answer.
    pub whole: &'a RawValue,
    /// Its Link line.
    pub link: Option<&'a str>,
    /// How many items it has.
    pub items: usize,
    /// The id of the last one.
    pub last_id: Option<&'a str>,
}

/// Walks through a list, page by page.
#[derive(Clone, Debug)]
pub struct Walk {
    paging: Paging,
    place: Place,
    been: HashSet<Place>,
    /// How many pages without items came one after another.
    empty: u32,
}

/// After so many pages without items a list is at its end. A page may be empty because its items are filtered out
/// there, and some lists have no other end.
const EMPTY: u32 = 3;

impl Walk {
    /// Begins at the first page.
    pub fn begin(paging: Paging) -> Self {
        Self::from(paging, None)
    }

    /// Goes on at a place, or begins at the first page.
    pub fn from(paging: Paging, place: Option<Place>) -> Self {
        let first = match paging {
            Paging::Page { first } => Place { page: Some(first), ..Place::default() },
            Paging::Offset { .. } => Place { offset: Some(0), ..Place::default() },
            _ => Place::default(),
        };
        Self { paging, place: place.unwrap_or(first), been: HashSet::new(), empty: 0 }
    }

    /// Returns the place of the page that is to be read.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Goes on to the next page. Returns `false` if there is none.
    ///
    /// # Errors
    /// Fails if the answer leads back to a page that was read, or nowhere.
    pub fn next(&mut self, answer: &Answer<'_>) -> Result<bool, PagingError> {
        self.empty = if answer.items == 0 { self.empty + 1 } else { 0 };
        let Some(next) = self.after(answer)?.filter(|_| self.empty < EMPTY) else { return Ok(false) };
        if answer.items == 0 && (next == self.place || self.been.contains(&next)) {
            return Ok(false);
        }
        if !self.been.insert(std::mem::replace(&mut self.place, next)) || self.been.contains(&self.place) {
            return Err(PagingError::Circle);
        }
        Ok(true)
    }

    fn after(&self, answer: &Answer<'_>) -> Result<Option<Place>, PagingError> {
        let at = |pointer: &str| raw::at(answer.whole, pointer);
        let text = |pointer: &str| at(pointer).and_then(raw::text).filter(|text| !text.is_empty());
        let has_items = answer.items > 0;
        Ok(match &self.paging {
            Paging::None => None,
            Paging::Cursor(pointer) => {
                text(pointer).map(|cursor| Place { cursor: Some(cursor), ..Place::default() })
            }
            Paging::CursorWhile { at: place, more, done } => {
                let says = |place: &Option<String>, word: &str| {
                    place.as_ref().is_none_or(|place| at(place).is_some_and(|raw| raw.get() == word))
                };
                let goes_on = says(more, "true") && says(done, "false");
                text(place)
                    .filter(|_| goes_on)
                    .map(|cursor| Place { cursor: Some(cursor), ..Place::default() })
            }
            Paging::UntilEmpty => {
                let last = answer.last_id.filter(|_| has_items);
                last.map(|id| Place { cursor: Some(id.to_owned()), ..Place::default() })
            }
            Paging::LastId(more) => {
                let is_more = at(more).is_some_and(|raw| raw.get() == "true");
                let last = answer.last_id.filter(|_| is_more);
                last.map(|id| Place { cursor: Some(id.to_owned()), ..Place::default() })
            }
            Paging::Page { .. } => {
                let next = self.place.page.map(|page| page + 1).filter(|_| has_items);
                next.map(|page| Place { page: Some(page), ..Place::default() })
            }
            Paging::Offset { size } => {
                let is_full = i64::try_from(answer.items).is_ok_and(|items| items >= *size && has_items);
                let next = self.place.offset.map(|offset| offset + size).filter(|_| is_full);
                next.map(|offset| Place { offset: Some(offset), ..Place::default() })
            }
            Paging::Link => answer.link.and_then(next_of).map(|url| place_of(&url)).transpose()?,
            Paging::Url(pointer) => text(pointer).map(|url| place_of(&url)).transpose()?,
            Paging::Rel(pointer) => {
                let links = at(pointer).and_then(raw::list).unwrap_or_default();
                let part = |link: &RawValue, name: &str| raw::at(link, name).and_then(raw::text);
                let next = links.into_iter().find(|link| part(link, "/rel").as_deref() == Some("next"));
                next.and_then(|link| part(link, "/href")).map(|url| place_of(&url)).transpose()?
            }
        })
    }
}

fn place_of(url: &str) -> Result<Place, PagingError> {
    let parsed = Url::parse(url).map_err(|_| PagingError::Url(url.chars().take(200).collect()))?;
    Ok(Place { url: Some(parsed), ..Place::default() })
}

/// Returns the URL with the relation `next` of a Link line (RFC 8288).
fn next_of(line: &str) -> Option<String> {
    let mut left = line;
    while let Some((_, rest)) = left.split_once('<') {
        let (url, after) = rest.split_once('>')?;
        let params = after.split_once('<').map_or(after, |(params, _)| params);
        let is_next = params.split([';', ',']).any(|param| {
            let (name, value) = param.split_once('=').unwrap_or((param, ""));
            let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
            name.trim().eq_ignore_ascii_case("rel") && relations.any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(url.to_owned());
        }
        left = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(walk: &mut Walk, json: &str, items: usize, link: Option<&str>) -> Result<bool, PagingError> {
        let whole: &RawValue = serde_json::from_str(json).unwrap();
        walk.next(&Answer { whole, link, items, last_id: Some("evt_9").filter(|_| items > 0) })
    }

    #[test]
    fn a_cursor_leads_on_until_there_is_none() {
        for end in [r#"{"n":null}"#, r#"{"n":""}"#, "{}"] {
            let mut walk = Walk::begin(Paging::Cursor("/n".to_owned()));
            assert_eq!(walk.place(), &Place::default());
            assert_eq!(step(&mut walk, r#"{"n":7}"#, 1, None), Ok(true));
            assert_eq!(walk.place().cursor.as_deref(), Some("7"));
            assert_eq!(step(&mut walk, end, 1, None), Ok(false), "{end}");
        }
    }

    #[test]
    fn the_last_id_leads_on_while_there_is_more() {
        let mut walk = Walk::begin(Paging::LastId("/has_more".to_owned()));
        assert_eq!(step(&mut walk, r#"{"has_more":true}"#, 2, None), Ok(true));
        assert_eq!(walk.place().cursor.as_deref(), Some("evt_9"));
        assert_eq!(
            step(&mut walk.clone(), r#"{"has_more":true}"#, 0, None),
            Ok(false),
            "nothing to go on from"
        );
        assert_eq!(step(&mut walk, r#"{"has_more":false}"#, 2, None), Ok(false));
    }

    #[test]
    fn pages_and_offsets_are_counted() {
        let mut pages = Walk::begin(Paging::Page { first: 1 });
        assert_eq!((pages.place().page, step(&mut pages, "[]", 3, None)), (Some(1), Ok(true)));
        assert_eq!((pages.place().page, step(&mut pages, "[]", 0, None)), (Some(2), Ok(false)));
        let mut offsets = Walk::begin(Paging::Offset { size: 50 });
        assert_eq!((offsets.place().offset, step(&mut offsets, "[]", 50, None)), (Some(0), Ok(true)));
        assert_eq!((offsets.place().offset, step(&mut offsets, "[]", 49, None)), (Some(50), Ok(false)));
    }

    #[test]
    fn a_link_line_names_the_next_page() {
        let mut walk = Walk::begin(Paging::Link);
        let link = r#"<https://a.example/x?p=1>; rel="prev", <https://a.example/x?cursor=v1_2,3>; title="a;b"; rel="last next""#;
        assert_eq!(step(&mut walk, "[]", 1, Some(link)), Ok(true));
        assert_eq!(walk.place().url.as_ref().map(Url::as_str), Some("https://a.example/x?cursor=v1_2,3"));
        assert_eq!(step(&mut walk, "[]", 1, Some(r#"<https://a.example/x>; rel="first""#)), Ok(false));
        let broken = step(&mut walk, "[]", 1, Some(r#"<nowhere>; rel=next"#));
        assert_eq!(broken, Err(PagingError::Url("nowhere".to_owned())));
    }

    #[test]
    fn a_list_without_another_end_ends_with_empty_pages() {
        let mut walk = Walk::begin(Paging::Url("/next".to_owned()));
        for (page, items, expected) in [(1, 2, true), (2, 0, true), (3, 0, true), (4, 0, false)] {
            let json = format!(r#"{{"next":"https://a.example/{page}"}}"#);
            assert_eq!(step(&mut walk, &json, items, None), Ok(expected), "{page}");
        }
    }

    #[test]
    fn flags_and_links_say_whether_there_is_more() {
        let (at, more, done) = ("/c".to_owned(), Some("/more".to_owned()), Some("/done".to_owned()));
        let mut more = Walk::begin(Paging::CursorWhile { at: at.clone(), more, done: None });
        assert_eq!(step(&mut more, r#"{"c":1,"more":true}"#, 1, None), Ok(true));
        assert_eq!(step(&mut more, r#"{"c":2,"more":false}"#, 1, None), Ok(false));
        let mut done = Walk::begin(Paging::CursorWhile { at, more: None, done });
        assert_eq!(step(&mut done, r#"{"c":1,"done":false}"#, 1, None), Ok(true));
        assert_eq!(step(&mut done, r#"{"c":2,"done":true}"#, 1, None), Ok(false));
        let mut rel = Walk::begin(Paging::Rel("/links".to_owned()));
        let links = r#"{"links":[{"rel":"self","href":"x"},{"rel":"next","href":"https://a.example/2"}]}"#;
        assert_eq!(step(&mut rel, links, 1, None), Ok(true));
        assert_eq!(rel.place().url.as_ref().map(Url::as_str), Some("https://a.example/2"));
        assert_eq!(step(&mut rel, r#"{"links":[]}"#, 1, None), Ok(false));
    }

    #[test]
    fn a_circle_is_noticed() {
        let mut walk = Walk::begin(Paging::Cursor("/n".to_owned()));
        for (cursor, expected) in [("1", Ok(true)), ("2", Ok(true)), ("1", Err(PagingError::Circle))] {
            assert_eq!(step(&mut walk, &format!(r#"{{"n":"{cursor}"}}"#), 1, None), expected);
        }
        let mut still = Walk::begin(Paging::Cursor("/n".to_owned()));
        assert_eq!(step(&mut still, r#"{"n":"1"}"#, 1, None), Ok(true));
        assert_eq!(step(&mut still, r#"{"n":"1"}"#, 1, None), Err(PagingError::Circle));
        let mut ends = Walk::begin(Paging::Cursor("/n".to_owned()));
        assert_eq!(step(&mut ends, r#"{"n":"1"}"#, 1, None), Ok(true));
        assert_eq!(
            step(&mut ends, r#"{"n":"1"}"#, 0, None),
            Ok(false),
            "an empty page that leads to itself is the end"
        );
    }
}
