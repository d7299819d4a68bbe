//! The flags for the answer that a source's senders get.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::{edit::text_or_null, failure::CliError, moment::Span};

/// Who answers a sender, once its request is stored.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Respond {
    /// Hookmitt, at once
    Stored,
    /// Your server, within --hold of serve or relay; after that hookmitt
    App,
    /// Hookmitt at once, unless only the app can answer (set-up requests, 401)
    Auto,
}

/// What the sender is answered.
#[derive(Debug, Default, clap::Args)]
pub(super) struct AnswerFlags {
    /// Who answers
    #[arg(long, value_enum)]
    respond: Option<Respond>,
    /// The status, 200 to 599. Without one, or with '': 200 where the provider is known, because some take nothing else
    /// for success; else 202, which says that the request is stored and nothing has handled it yet
    #[arg(long, value_name = "CODE")]
    answer_status: Option<String>,
    /// The body
    #[arg(long, value_name = "TEXT")]
    answer_body: Option<String>,
    /// How long to wait before answering
    #[arg(long, value_name = "D")]
    answer_delay: Option<Span>,
    /// Answer the next N requests with 500; they are still stored
    #[arg(long, value_name = "N")]
    fail_next: Option<u32>,
}

impl AnswerFlags {
    /// Returns the fields of the API's `answer` that were given.
    pub(super) fn fields(&self) -> Result<Map<String, Value>, CliError> {
        let mut fields = Map::new();
        if let Some(respond) = self.respond {
            let name = match respond {
                Respond::Stored => Some("stored"),
                Respond::App => Some("app"),
                Respond::Auto => None,
            };
            fields.insert("respond".to_owned(), json!(name));
        }
        if let Some(status) = &self.answer_status {
            fields.insert("status".to_owned(), status_code(status)?);
        }
        if let Some(body) = &self.answer_body {
            fields.insert("body".to_owned(), text_or_null(body));
        }
        if let Some(delay) = self.answer_delay {
            fields.insert("delay_ms".to_owned(), json!(delay.as_millis()));
        }
        if let Some(number) = self.fail_next {
            fields.insert("fail_next".to_owned(), json!(number));
        }
        Ok(fields)
    }
}

fn status_code(text: &str) -> Result<Value, CliError> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let status = text.parse().ok().filter(|status| (200..=599_u16).contains(status));
    let wrong = || {
        CliError::bad_input("bad-status", format!("{text:?} isn't a status to answer with: use 200 to 599"))
    };
    status.map(Value::from).ok_or_else(wrong)
}
