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
    /// Returns how a command with this outcome ends: success for a 2xx answer, `No` for another answer, `Unreached`
    /// without an answer.
    pub(crate) fn exit(&self) -> Exit {
        match self.response_status {
            Some(200..300) => Exit::Success,
            Some(_) => Exit::No,
            None => Exit::Unreached,
        }
    }

    /// Returns the outcome as a line of text.
    pub(crate) fn line(&self) -> String {
        let name = self.delivery_id.as_deref().or(self.event_id.as_deref()).unwrap_or("-");
        let name = Styled(FAINT, Plain(name)).to_string();
        let status = Plain(self.status.as_deref().unwrap_or("not sent")).to_string();
        let style = match self.exit() {
            Exit::Success => GOOD,
            Exit::No => BAD,
            Exit::BadInput | Exit::Unreached | Exit::Interrupted => ODD,
        };
        let answer = match self.response_status {
            Some(code) => Styled(style, code.to_string()),
            None => Styled(style, "no answer".to_owned()),
        };
        match &self.error {
            Some(error) => format!("{name}  {answer}  {status}: {}", Plain(error)),
            None => format!("{name}  {answer}  {status}"),
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
