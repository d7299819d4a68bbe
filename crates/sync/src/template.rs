//! Texts with places to fill in: `{{name}}`, or `{{name|form}}`. Neither a URL, nor JSON, nor GraphQL has two braces
//! beside each other, so nothing else is taken for a place.

use std::{borrow::Cow, fmt, str::FromStr};

use hookmitt_event::Timestamp;
use serde::Deserialize;

/// What is put into a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filling<'a> {
    /// A text as it is.
    Text(Cow<'a, str>),
    /// A number.
    Number(i64),
    /// A moment, in the form that the place names.
    Time(Timestamp),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A place has no end.
    #[error("`{{{{` has no `}}}}`")]
    Open,
    /// A place names a form that doesn't exist.
    #[error("there is no form `{0}`: use s, ms, s-text, ms-text, date or rfc3339")]
    Form(String),
}

/// How a moment is written, to the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// Seconds since 1970.
    Seconds,
    /// Seconds since 1970, as a text where a number would be one.
    SecondsText,
    /// Milliseconds since 1970.
    Millis,
    /// Milliseconds since 1970, as a text where a number would be one.
    MillisText,
    /// The day in UTC.
    Date,
    /// RFC 3339 in UTC.
    #[default]
    Rfc3339,
}

impl FromStr for Form {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        match text {
            "s" => Ok(Self::Seconds),
            "ms" => Ok(Self::Millis),
            "s-text" => Ok(Self::SecondsText),
            "ms-text" => Ok(Self::MillisText),
            "date" => Ok(Self::Date),
            "rfc3339" => Ok(Self::Rfc3339),
            other => Err(TemplateError::Form(other.to_owned())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place { name: String, form: Form },
}

/// A text with places to fill in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template(Vec<Piece>);

impl TryFrom<String> for Template {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Self, TemplateError> {
        text.parse()
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut left) = (Vec::new(), text);
        while let Some((before, rest)) = left.split_once("{{") {
            let (place, after) = rest.split_once("}}").ok_or(TemplateError::Open)?;
            let (name, form) = place.split_once('|').unwrap_or((place, "rfc3339"));
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Place { name: name.trim().to_owned(), form: form.trim().parse()? });
            left = after;
        }
        if !left.is_empty() {
            pieces.push(Piece::Text(left.to_owned()));
        }
        Ok(Self(pieces))
    }
}

impl Template {
    /// Returns the text before the first place.
    pub fn beginning(&self) -> &str {
        match self.0.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Place { .. }) | None => "",
        }
    }

    /// Returns the name of the place, if the template is nothing else.
    pub(crate) fn alone(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Place { name, .. }] => Some(name),
            _ => None,
        }
    }

    /// Iterates over the names of the places.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Place { name, .. } => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Fills in the places. Each value passes through `escape`. Returns `None` if a value is missing.
    pub fn fill<'a>(
        &self,
        value: impl Fn(&str) -> Option<Filling<'a>>,
        escape: impl Fn(&str) -> String,
    ) -> Option<String> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Place { name, form } => filled.push_str(&escape(&written(value(name)?, *form))),
            }
        }
        Some(filled)
    }

    /// Returns the only place's number, if the template is nothing else and its value is one.
    pub(crate) fn number<'a>(&self, value: impl Fn(&str) -> Option<Filling<'a>>) -> Option<i64> {
        let [Piece::Place { name, form }] = self.0.as_slice() else { return None };
        match (value(name)?, form) {
            (Filling::Number(number), _) => Some(number),
            (Filling::Time(time), Form::Seconds) => Some(time.as_seconds()),
            (Filling::Time(time), Form::Millis) => Some(time.as_micros().div_euclid(1_000)),
            _ => None,
        }
    }
}

fn written(filling: Filling<'_>, form: Form) -> String {
    match (filling, form) {
        (Filling::Text(text), _) => text.into_owned(),
        (Filling::Number(number), _) => number.to_string(),
        (Filling::Time(time), Form::Seconds | Form::SecondsText) => time.as_seconds().to_string(),
        (Filling::Time(time), Form::Millis | Form::MillisText) => {
            time.as_micros().div_euclid(1_000).to_string()
        }
        (Filling::Time(time), Form::Date) => {
            time.to_string().chars().take_while(|letter| *letter != 'T').collect()
        }
        // Some APIs refuse fractions.
        (Filling::Time(time), Form::Rfc3339) => {
            let text = Timestamp::from_seconds(time.as_seconds()).to_string();
            text.replace(".000000", "")
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => out.write_str(text),
            Piece::Place { name, .. } => write!(out, "{{{{{name}}}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Option<String> {
        let value = |name: &str| match name {
            "since" => Some(Filling::Time(Timestamp::from_seconds(1_795_708_800))),
            "repo" => Some(Filling::Text("octo/ö&x".into())),
            "offset" => Some(Filling::Number(50)),
            _ => None,
        };
        text.parse::<Template>().unwrap().fill(value, |text| text.replace('&', "%26"))
    }

    #[test]
    fn places_are_filled_and_all_else_stays() {
        for (text, expected) in [
            ("/repos/{{repo}}/hooks", Some("/repos/octo/ö%26x/hooks")),
            ("{{since|s}}.{{ since | ms }}", Some("1795708800.1795708800000")),
            ("{{since|date}} {{since}}", Some("2026-11-26 2026-11-26T16:00:00Z")),
            ("query { a(skip: {{offset}}) { id } }", Some("query { a(skip: 50) { id } }")),
            ("{\"a\":{\"b\":{}}}", Some("{\"a\":{\"b\":{}}}")),
            ("after={{cursor}}", None),
        ] {
            assert_eq!(filled(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused() {
        assert_eq!("a {{b".parse::<Template>(), Err(TemplateError::Open));
        assert_eq!("{{a|weeks}}".parse::<Template>(), Err(TemplateError::Form("weeks".to_owned())));
    }
}
