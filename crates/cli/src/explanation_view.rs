//! Formats the evidence for a verdict.

use std::fmt::Write as _;

use hookmitt_event::{CauseState, CodeFix, ContentKind, Explanation, FixKind, Plain};

use crate::terminal::{BAD, FAINT, GOOD, ODD, Styled};

/// The cause that says that the local server rejects a genuine event.
const APP_REJECTS: &str = "app_rejects";

/// How many characters are shown of each signed part and of each signature.
const SHOWN: usize = 120;

/// Returns the evidence that is shown below a verdict's causes. Empty if there is none.
pub(crate) fn evidence(explanation: &Explanation) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {}  {value}", Styled(FAINT, format!("{name:<8}")));
    };
    if !explanation.signed_content.is_empty() {
        line("signed", &signed(explanation));
    }
    if let Some(called) = &explanation.called {
        line("url", &Plain(&called.url).to_string());
        line("", &Plain(&called.note).to_string());
    }
    for got in &explanation.got {
        line("got", &cut(got));
    }
    if let Some(expected) = &explanation.expected {
        line("expected", &cut(expected));
    }
    if let Some(fitting) = &explanation.fitting {
        line("fits", &format!("{} ({})", Plain(&fitting.label), cut(&fitting.value)));
    }
    for secret in &explanation.secrets {
        let fits = if secret.fits { Styled(GOOD, "fits") } else { Styled(BAD, "doesn't fit") };
        line("secret", &format!("{} {fits}", Plain(&secret.label)));
    }
    for cause in explanation.causes.iter().filter(|cause| cause.state == CauseState::RuledOut) {
        line("not", &format!("{}  {}", Plain(&cause.title), Styled(FAINT, Plain(&cause.evidence))));
    }
    if explanation.tried > 0 {
        line("tried", &format!("{} in {} ms", explanation.tried, explanation.took_ms));
    }
    if let Some(fix) = &explanation.fix {
        out.push_str(&code(fix));
    }
    out
}

/// Returns the signed content. The scheme's own text has another colour than the parts of the request.
fn signed(explanation: &Explanation) -> String {
    let parts = explanation.signed_content.iter().map(|part| match part.kind {
        ContentKind::Place => cut(&part.text),
        ContentKind::Literal => Styled(ODD, Plain(&part.text)).to_string(),
    });
    parts.collect()
}

fn cut(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", Plain(&shown))
}

/// Returns why the local server rejects a genuine event, and how to change its code. Empty if it doesn't.
pub(crate) fn rejection(explanation: &Explanation) -> String {
    let Some(cause) = explanation.causes.iter().find(|cause| cause.code == APP_REJECTS) else {
        return String::new();
    };
    let fix = explanation.fix.as_ref().map(code).unwrap_or_default();
    format!("\n{}\n  {}\n{fix}", Styled(ODD, Plain(&cause.message)), Plain(&cause.fix))
}

/// Returns how to change the receiver's code, for the framework that the receiver seems to use, else for the first one.
fn code(fix: &CodeFix) -> String {
    let guessed = fix.frameworks.iter().find(|framework| framework.guessed);
    let Some(framework) = guessed.or(fix.frameworks.first()) else { return String::new() };
    let mut out = format!("\n  {} ({})\n", Plain(&fix.title), Plain(&framework.name));
    for line in &framework.lines {
        let (mark, style) = match line.kind {
            FixKind::Same => (' ', FAINT),
            FixKind::Del => ('-', BAD),
            FixKind::Add => ('+', GOOD),
        };
        let _ = writeln!(out, "  {}", Styled(style, format!("{mark} {}", Plain(&line.text))));
    }
    let others: Vec<_> = fix.frameworks.iter().filter(|other| other.id != framework.id).collect();
    if !others.is_empty() {
        let names = others.iter().map(|other| other.name.as_str()).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "  {}", Styled(FAINT, format!("also for {}", Plain(&names))));
    }
    out
}

#[cfg(test)]
mod tests {
    use hookmitt_event::{CalledUrl, ContentPart, Fitting, FixLine, FrameworkFix, SecretFit, Verdict};

    use super::*;

    #[test]
    fn everything_that_was_found_has_a_line_and_nothing_steers_the_terminal() {
        let part = |text: &str, kind| ContentPart { text: text.to_owned(), kind };
        let line = |kind, text: &str| FixLine { kind, text: text.to_owned() };
        let framework = FrameworkFix {
            id: "express".to_owned(),
            name: "Express".to_owned(),
            guessed: true,
            why: None,
            lines: vec![line(FixKind::Del, "express.json()"), line(FixKind::Add, "express.raw()")],
        };
        let explanation = Explanation {
            verdict: Verdict::Invalid,
            provider: None,
            scheme: None,
            scheme_name: None,
            sentence: String::new(),
            detail: String::new(),
            tried: 7,
            took_ms: 3,
            causes: Vec::new(),
            signed_content: vec![
                part("17", ContentKind::Place),
                part(".", ContentKind::Literal),
                part("\u{1b}[2J{}", ContentKind::Place),
            ],
            called: Some(CalledUrl {
                url: "http://h/\u{7}".to_owned(),
                note: "Nobody vouches for it.".to_owned(),
            }),
            got: vec!["ab".to_owned()],
            expected: Some("cd".to_owned()),
            fitting: Some(Fitting { label: "other/one".to_owned(), value: "ab".to_owned() }),
            rebuilt_body_base64: None,
            body_note: None,
            secrets: vec![SecretFit { label: "default".to_owned(), fits: false }],
            fix: Some(CodeFix { title: "Keep the raw body".to_owned(), frameworks: vec![framework] }),
        };
        let text = anstream::adapter::strip_str(&evidence(&explanation)).to_string();
        let expected = "  signed    17.\\u{1b}[2J{}\n  url       http://h/\\u{7}\n            Nobody vouches for \
                        it.\n  got       ab\n  expected  cd\n  fits      other/one (ab)\n  secret    default \
                        doesn't fit\n  tried     7 in 3 ms\n\n  Keep the raw body (Express)\n  - express.json()\n  \
                        + express.raw()\n";
        assert_eq!(text, expected);
    }
}
