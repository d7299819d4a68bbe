//! Proposed changes to a receiver's code, for each framework: the embedded files of `fixes/`.
//!
//! A file holds one snippet for each possible fix, as a diff: removed lines begin with `-`, added ones with `+`,
//! unchanged ones with a space.

use std::sync::LazyLock;

use hookmitt_event::{CodeFix, FixKind, FixLine, FrameworkFix, HeaderLines};
use serde::Deserialize;

use crate::provider::Provider;

/// The most characters of a header that are shown as the reason for a guess.
const LONGEST_WHY: usize = 40;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Framework {
    #[serde(skip)]
    id: String,
    name: String,
    /// Frameworks are listed in ascending order of rank.
    rank: u32,
    /// Header lines that point to this framework: a name, or a name and the start of its value.
    #[serde(default)]
    clues: Vec<String>,
    raw_body: String,
    public_url: String,
}

include!(concat!(env!("OUT_DIR"), "/fix_files.rs"));

static FRAMEWORKS: LazyLock<Vec<Framework>> =
    LazyLock::new(|| read(FIX_FILES).expect("a test reads the embedded fixes"));

fn read(files: &[(&str, &str)]) -> Result<Vec<Framework>, String> {
    let framework = |(id, text): &(&str, &str)| {
        let read: Framework = toml::from_str(text).map_err(|error| format!("{id}: {error}"))?;
        Ok(Framework { id: (*id).to_owned(), ..read })
    };
    let mut all = files.iter().map(framework).collect::<Result<Vec<_>, String>>()?;
    all.sort_by_key(|framework| framework.rank);
    Ok(all)
}

/// A change to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// Keeps the raw body, for a receiver that parses or decodes the body before it checks the signature.
    RawBody,
    /// Rebuilds the URL that the sender called, for a receiver that sees another one.
    PublicUrl,
}

impl Remedy {
    /// Returns the change that fixes a cause; `None` if there is none.
    fn of(cause: &str) -> Option<Self> {
        Some(match cause {
            "body_reserialized" | "newline_changed" | "bom_added" | "form_changed" | "charset_changed"
            | "body_decoded" | "body_truncated" => Self::RawBody,
            "url_mismatch" => Self::PublicUrl,
            _ => return None,
        })
    }

    fn title(self) -> &'static str {
        match self {
            Self::RawBody => "Pass the raw body on",
            Self::PublicUrl => "Verify the public URL",
        }
    }

    fn snippet(self, framework: &Framework) -> &str {
        match self {
            Self::RawBody => &framework.raw_body,
            Self::PublicUrl => &framework.public_url,
        }
    }
}

/// Returns the change to a receiver's code that lets it check the signature over the body as it was sent. `answers` are
/// the header lines of the receiver's answers, by which its framework is guessed.
pub fn raw_body_fix(provider: Option<&Provider>, answers: &[HeaderLines]) -> Option<CodeFix> {
    let lines = answers.iter().flat_map(HeaderLines::iter);
    let clues: Vec<_> =
        lines.filter_map(|line| Some((line.name, std::str::from_utf8(line.value).ok()?))).collect();
    code_fix("body_reserialized", provider, &clues)
}

/// Returns the change to a receiver's code that fixes a cause; `None` if no code change does.
///
/// `clues` are header lines as pairs of name and text: those of the request, which a receiver may have passed on, and
/// those of the receiver's answers.
pub(crate) fn code_fix(cause: &str, provider: Option<&Provider>, clues: &[(&str, &str)]) -> Option<CodeFix> {
    let remedy = Remedy::of(cause)?;
    let guess = guess(provider, clues);
    let fix = |framework: &Framework| {
        let why = guess.as_ref().filter(|(id, _)| *id == framework.id).map(|(_, why)| why.clone());
        FrameworkFix {
            id: framework.id.clone(),
            name: framework.name.clone(),
            guessed: why.is_some(),
            why,
            lines: lines(&filled(remedy.snippet(framework), provider)),
        }
    };
    let mut frameworks: Vec<_> = FRAMEWORKS.iter().map(fix).collect();
    frameworks.sort_by_key(|framework| !framework.guessed);
    Some(CodeFix { title: remedy.title().to_owned(), frameworks })
}

fn filled(snippet: &str, provider: Option<&Provider>) -> String {
    let (id, name) =
        provider.map_or(("sender", "the sender"), |provider| (provider.id.as_str(), provider.name.as_str()));
    snippet.replace("{path}", &format!("/webhooks/{id}")).replace("{Provider}", name)
}

fn lines(snippet: &str) -> Vec<FixLine> {
    let line = |line: &str| {
        let kind = match line.as_bytes().first() {
            Some(b'-') => FixKind::Del,
            Some(b'+') => FixKind::Add,
            _ => FixKind::Same,
        };
        FixLine { kind, text: line.get(2..).unwrap_or_default().to_owned() }
    };
    snippet.lines().map(line).collect()
}

/// Guesses the receiver's framework, and returns its id with the header line that suggests it. User agents are tried
/// last, because they are the weakest hint; the provider's own is ignored.
fn guess(provider: Option<&Provider>, clues: &[(&str, &str)]) -> Option<(&'static str, String)> {
    let own = provider.and_then(|provider| provider.sample.as_ref()?.user_agent()).map(product);
    let is_agent = |name: &str| name.eq_ignore_ascii_case("User-Agent");
    let (agents, named): (Vec<_>, Vec<_>) = clues.iter().copied().partition(|(name, _)| is_agent(name));
    let agents: Vec<_> = agents.into_iter().filter(|(_, text)| Some(product(text)) != own).collect();
    [named, agents]
        .iter()
        .find_map(|clues| FRAMEWORKS.iter().find_map(|framework| framework.hinted_at(clues)))
}

/// Returns the product name at the start of a user agent, without the version.
fn product(agent: &str) -> &str {
    agent.split(['/', ' ']).next().unwrap_or_default()
}

impl Framework {
    fn hinted_at(&'static self, clues: &[(&str, &str)]) -> Option<(&'static str, String)> {
        let (name, text) = self.clues.iter().find_map(|clue| {
            let (name, start) = clue.split_once(": ").unwrap_or((clue, ""));
            let begins = |text: &str| {
                text.as_bytes()
                    .get(..start.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
            };
            clues.iter().find(|(known, text)| known.eq_ignore_ascii_case(name) && begins(text))
        })?;
        // A cookie's value is private, so it is not shown.
        let shown = text.split(['=', ';']).next().unwrap_or_default();
        let shown: String = shown.chars().filter(|letter| !letter.is_control()).take(LONGEST_WHY).collect();
        Some((&self.id, format!("{}: {shown}", name.to_ascii_lowercase())))
    }
}

#[cfg(test)]
mod tests;
