//! Prints the outcomes of deliveries that a command waits for, one line each.

use hookmitt_event::Plain;
use serde::{Deserialize, Serialize};

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    terminal::{BAD, FAINT, GOOD, ODD, Screen, Styled},
};

/// A delivery that the command started.
#[derive(Debug, Deserialize)]
pub(crate) struct Ordered {
    /// The delivery's id.
    pub(crate) delivery_id: String,
}

/// The outcome of one delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The event that was sent. `None` if our own capture port got a sample and returned no id.
    pub(crate) event_id: Option<String>,
    /// The delivery. `None` if a sample went straight to our own capture port.
    pub(crate) delivery_id: Option<String>,
    /// The delivery's status.
    pub(crate) status: Option<String>,
    /// The status of the target's answer.
    pub(crate) response_status: Option<u16>,
    /// What went wrong, for example `answered 500`.
    pub(crate) error: Option<String>,
    /// Why a sample was sent unsigned. `None` if it was signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unsigned: Option<String>,
}

impl Outcome {
    /// Returns how a command with this outcome ends: success for a 2xx answer, `No` for another answer or if it was not
    /// sent on purpose, `Unreached` without an answer.
    pub(crate) fn exit(&self) -> Exit {
        match self.response_status {
            Some(200..300) => Exit::Success,
            Some(_) => Exit::No,
            None if self.status.as_deref() == Some("skipped") => Exit::No,
            None => Exit::Unreached,
        }
    }

    /// Whether the capture port accepted a sample. What becomes of its deliveries is another question.
    pub(crate) fn is_only_accepted(&self) -> bool {
        self.delivery_id.is_none() && self.exit() == Exit::Success
    }

    /// Returns the outcome as a line of text.
    pub(crate) fn line(&self) -> String {
        let name = self.delivery_id.as_deref().or(self.event_id.as_deref()).unwrap_or("-");
        let style = match self.exit() {
            Exit::Success => GOOD,
            Exit::No => BAD,
            Exit::BadInput | Exit::Unreached | Exit::Interrupted => ODD,
        };
        format!("{}  {}", Styled(FAINT, Plain(name)), Styled(style, Plain(&self.words())))
    }

    /// Says what became of the delivery, or of a sample that was posted to the capture port.
    fn words(&self) -> String {
        let status = self.status.as_deref().unwrap_or_default();
        let why = self.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
        match (self.response_status, status) {
            (Some(_), "captured") => "stored; its source has no target".to_owned(),
            (Some(code @ 200..300), _) if self.delivery_id.is_none() => format!("accepted ({code})"),
            (Some(code @ 200..300), _) => format!("delivered ({code})"),
            (Some(code), _) if self.delivery_id.is_none() => format!("hookmitt answered {code}"),
            (Some(code), "pending") => format!("your server answered {code}; it will be tried again"),
            (Some(code), "dead_letter") => format!("your server answered {code}; no attempts are left"),
            (Some(code), _) => format!("your server answered {code}"),
            (None, "pending") => format!("waiting{why}"),
            (None, "processing") => "no answer yet".to_owned(),
            (None, "skipped") => format!("skipped{why}"),
            (None, _) => format!("not delivered{why}"),
        }
    }
}

/// Prints outcomes as they arrive. The worst one decides how the command ends.
#[derive(Default)]
pub(crate) struct Outcomes {
    worst: Exit,
}

impl Outcomes {
    /// Prints an outcome.
    pub(crate) fn print(&mut self, outcome: &Outcome, screen: &Screen) -> Result<(), CliError> {
        self.worst = self.worst.max(outcome.exit());
        if screen.json { screen.print_json(outcome) } else { screen.print(outcome.line()) }
    }

    /// Waits for the first attempt of each delivery in turn, and prints its outcome.
    pub(crate) async fn wait_for(
        &mut self,
        ordered: &[Ordered],
        client: &Client,
        screen: &Screen,
    ) -> Result<(), CliError> {
        for Ordered { delivery_id } in ordered {
            let outcome = client.get(&Address::new(["deliveries", delivery_id, "outcome"])).await?;
            self.print(&outcome, screen)?;
        }
        Ok(())
    }

    /// Returns how the command ends: the worst of the printed outcomes.
    pub(crate) fn exit(&self) -> Exit {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(response_status: Option<u16>, error: Option<&str>) -> Outcome {
        Outcome {
            event_id: Some("0199".to_owned()),
            delivery_id: Some("0199.1".to_owned()),
            status: Some("pending".to_owned()),
            response_status,
            error: error.map(str::to_owned),
            unsigned: None,
        }
    }

    #[test]
    fn the_answer_decides_the_exit_code() {
        let exits = [Some(204), Some(302), Some(500), None].map(|status| outcome(status, None).exit() as u8);
        assert_eq!(exits, [0, 1, 1, 3]);
    }

    #[test]
    fn a_line_says_what_became_of_it() {
        let words = |status: &str, response_status, error| {
            Outcome { status: Some(status.to_owned()), ..outcome(response_status, error) }.words()
        };
        assert_eq!(words("completed", Some(200), None), "delivered (200)");
        assert_eq!(
            words("pending", Some(500), Some("answered 500")),
            "your server answered 500; it will be tried again"
        );
        assert_eq!(words("failed", Some(404), Some("answered 404")), "your server answered 404");
        let down = "connection refused by localhost:3000";
        assert_eq!(words("pending", None, Some(down)), format!("waiting: {down}"));
        assert_eq!(words("captured", Some(202), None), "stored; its source has no target");
        let skipped = Outcome {
            status: Some("skipped".to_owned()),
            ..outcome(None, Some("its signature was rejected"))
        };
        assert_eq!(
            (skipped.words().as_str(), skipped.exit()),
            ("skipped: its signature was rejected", Exit::No)
        );
        let refused = Outcome { delivery_id: None, ..outcome(Some(401), None) };
        assert_eq!(refused.words(), "hookmitt answered 401");
    }

    #[test]
    fn threat_2_a_hostile_error_is_escaped() {
        let line = outcome(None, Some("no\n\u{1b}[2J")).line();
        assert!(line.contains(r"no\u{a}\u{1b}[2J") && !line.contains('\n'), "{line:?}");
    }

    #[test]
    fn json_has_the_fields_of_the_contract() {
        let line = serde_json::to_string(&outcome(Some(200), None)).unwrap();
        let expected = r#"{"event_id":"0199","delivery_id":"0199.1","status":"pending","response_status":200,"error":null}"#;
        assert_eq!(line, expected);
    }
}
