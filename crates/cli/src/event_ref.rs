//! The ways to name an event on the command line.

use std::{fmt, str::FromStr};

use hookmitt_api::EventJson;
use hookmitt_event::{EventId, Plain};

use crate::{
    client::{Address, Client},
    failure::CliError,
};

/// The name of an event as it was typed, in lower case: an id or the beginning of one, `#1234`, `last` or `last~2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventRef(String);

impl FromStr for EventRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| digits.parse::<i64>().is_ok_and(|number| number >= 0);
        let is_digit = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let lower = text.to_ascii_lowercase();
        let named = match (lower.strip_prefix('#'), lower.strip_prefix("last")) {
            (Some(digits), _) => is_digit(digits) && !digits.is_empty() && number(digits),
            (_, Some("")) => true,
            (_, Some(back)) => back.strip_prefix('~').is_some_and(|back| is_digit(back) && number(back)),
            _ => {
                let id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
                !lower.is_empty() && lower.len() <= 36 && lower.bytes().all(id)
            }
        };
        if named {
            return Ok(Self(lower));
        }
        Err(format!("{} isn't an event: use an id or the start of one, '#12', last or last~2", Plain(text)))
    }
}

impl fmt::Display for EventRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl EventRef {
    /// Returns the event's address in the API.
    pub(crate) fn address(&self) -> Address {
        Address::new(["events", &self.0])
    }

    /// Returns the address of a part of the event, for example its `body`.
    pub(crate) fn address_of(&self, part: &str) -> Address {
        Address::new(["events", &self.0, part])
    }

    /// Fetches the event with its deliveries.
    pub(crate) async fn read(&self, client: &Client) -> Result<EventJson, CliError> {
        client.get(&self.address()).await
    }

    /// Returns the ids of all named events. They are looked up before anything is done to the first event, because an
    /// edit changes which event is `last`.
    pub(crate) async fn ids(refs: &[Self], client: &Client) -> Result<Vec<EventId>, CliError> {
        let mut ids = Vec::with_capacity(refs.len());
        for each in refs {
            ids.push(each.read(client).await?.id);
        }
        Ok(ids)
    }

    /// Reads the events, each once however often it is named.
    pub(crate) async fn each(refs: &[Self], client: &Client) -> Result<Vec<EventJson>, CliError> {
        let mut events: Vec<EventJson> = Vec::with_capacity(refs.len());
        for each in refs {
            let event = each.read(client).await?;
            if events.iter().all(|known| known.id != event.id) {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// Reads the events, each once. Fails for one that isn't in the trash.
    pub(crate) async fn each_deleted(refs: &[Self], client: &Client) -> Result<Vec<EventJson>, CliError> {
        let events = Self::each(refs, client).await?;
        match events.iter().find(|event| event.deleted_at.is_none()) {
            None => Ok(events),
            Some(event) => Err(CliError::bad_input_with(
                "not-deleted",
                format!("#{} isn't deleted", event.seq),
                "name it by its number or id: `last` is never a deleted one",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_name_an_event_is_taken() {
        for text in
            ["last", "last~0", "LAST~12", "#1", "0199", "0199A5F0-1111-7abc-8def-0123456789ab", "deadbeef"]
        {
            assert!(text.parse::<EventRef>().is_ok(), "{text}");
        }
        for text in ["", "#", "#x", "#-1", "last~", "last~+1", "lastly", "..", "xyz", "a b", "0199/body"] {
            assert!(text.parse::<EventRef>().is_err(), "{text}");
        }
    }

    #[test]
    fn threat_2_a_hostile_name_is_escaped_where_it_is_repeated() {
        let error = "\u{1b}[2J".parse::<EventRef>().unwrap_err();
        assert!(error.starts_with(r"\u{1b}[2J"), "{error}");
    }
}
