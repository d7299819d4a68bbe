//! Prints a verdict for `verify`.

use hookmitt_event::{Cause, Plain, Verdict};
use serde::{Deserialize, Serialize};

use crate::{
    event_words::{causes, note},
    failure::{CliError, Exit},
    shown,
    terminal::{FAINT, Screen, Styled},
};

/// A verdict with its reasons, as `verify` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VerdictReport {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The provider's id in the catalogue.
    pub(crate) provider: Option<String>,
    /// The id of the signature scheme that was judged.
    pub(crate) scheme: Option<String>,
    /// The label of the secret that matched.
    pub(crate) secret_label: Option<String>,
    /// A sentence that says which part of the body a valid signature does not cover. `None` if it covers the whole
    /// body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uncovered: Option<String>,
    /// Why the verdict is not `valid`, most likely cause first. May be empty.
    pub(crate) causes: Vec<Cause>,
}

impl VerdictReport {
    /// Prints the report to standard output. If the signature could not be checked, writes the reason and a hint to
    /// standard error.
    pub(crate) fn print(&self, screen: &Screen) -> Result<Exit, CliError> {
        if screen.json {
            screen.print_json(&self.contracted())?
        } else {
            screen.print(self.text().trim_end())?
        }
        if let Some((code, message, hint)) = self.complaint() {
            screen.complain(code, message, Some(hint));
        }
        Ok(self.exit())
    }

    /// Returns a copy of the report without the causes' titles, because the command's JSON doesn't contain them.
    fn contracted(&self) -> Self {
        let causes = self.causes.iter().map(|cause| Cause { title: None, ..cause.clone() }).collect();
        Self { causes, ..self.clone() }
    }

    fn exit(&self) -> Exit {
        match self.verdict {
            Verdict::Valid => Exit::Success,
            Verdict::Invalid | Verdict::Unsigned => Exit::No,
            Verdict::NoSecret => Exit::BadInput,
            Verdict::Unsupported | Verdict::Pending => Exit::Unreached,
        }
    }

    fn text(&self) -> String {
        let provider = self.provider.as_deref().unwrap_or("unknown sender");
        let scheme = self.scheme.as_ref().map_or(String::new(), |scheme| format!(", {scheme}"));
        let label = self.secret_label.as_ref().map_or(String::new(), |label| format!(", secret {label}"));
        let about = format!("{provider}{scheme}{label}");
        format!(
            "{}  {}\n{}{}",
            shown::verdict(self.verdict),
            Styled(FAINT, Plain(&about)),
            note(self.uncovered.as_deref()),
            causes(&self.causes)
        )
    }

    fn complaint(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let setting = self.causes.first().is_some_and(|cause| cause.code == "wrong_configuration");
        match self.verdict {
            Verdict::NoSecret if setting => Some((
                "setting-needed",
                "it is signed, but the setting that shows whether it is yours is missing",
                "pass it with --param NAME=VALUE, or set it for the source",
            )),
            Verdict::NoSecret => Some((
                "no-secret",
                "it is signed, but there is no secret to verify it with",
                "pass one with --secret-env NAME (or --public-key FILE), or store one: `hookmitt secret set SLUG`",
            )),
            Verdict::Unsupported => Some((
                "unsupported",
                "the key it needs isn't available here",
                "download the provider's key and pass it with --public-key FILE",
            )),
            Verdict::Pending => Some((
                "key-pending",
                "the provider's key is still being fetched",
                "try again in a moment, or pass the key with --public-key FILE",
            )),
            Verdict::Valid | Verdict::Invalid | Verdict::Unsigned => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdict: Verdict) -> VerdictReport {
        let cause = Cause {
            code: "no_match".to_owned(),
            title: None,
            message: "no \u{1b}[2J".to_owned(),
            fix: "set it".to_owned(),
        };
        VerdictReport {
            verdict,
            provider: Some("github".to_owned()),
            scheme: None,
            secret_label: Some("env:S".to_owned()),
            uncovered: None,
            causes: vec![cause],
        }
    }

    #[test]
    fn every_verdict_has_its_exit_code() {
        let exits = Verdict::ALL.map(|(verdict, _)| report(verdict).exit() as u8);
        assert_eq!(exits, [0, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn the_json_is_that_of_the_contract() {
        let line = serde_json::to_string(&report(Verdict::Invalid)).unwrap();
        let expected = r#"{"verdict":"invalid","provider":"github","scheme":null,"secret_label":"env:S","causes":[{"code":"no_match","message":"no \u001b[2J","fix":"set it"}]}"#;
        assert_eq!(line, expected);
    }

    #[test]
    fn what_a_valid_signature_leaves_open_is_printed_and_in_the_json() {
        let open = Some("The body isn't covered.".to_owned());
        let report = VerdictReport { uncovered: open, causes: Vec::new(), ..report(Verdict::Valid) };
        let text = anstream::adapter::strip_str(&report.text()).to_string();
        assert_eq!(text, "valid  github, secret env:S\n  note   The body isn't covered.\n");
        assert!(serde_json::to_string(&report).unwrap().contains(r#""uncovered":"The body isn't covered.""#));
    }

    #[test]
    fn threat_2_causes_are_printed_with_their_fixes_and_escaped() {
        let text = anstream::adapter::strip_str(&report(Verdict::Invalid).text()).to_string();
        assert_eq!(
            text,
            "invalid  github, secret env:S\n  cause  no \\u{1b}[2J [no_match]\n  fix    set it\n"
        );
    }
}
