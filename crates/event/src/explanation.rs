//! Why a verdict is what it is, for people who look closer: every part of it is evidence that can be checked.

use serde::{Deserialize, Serialize};

use crate::{Cause, Verdict};

/// An explained verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The scheme that was judged.
    pub scheme: Option<String>,
    /// The scheme in words, such as `v1, HMAC-SHA256`.
    pub scheme_name: Option<String>,
    /// The finding in a sentence.
    pub sentence: String,
    /// What to know beyond it, a sentence or two; empty where nothing is.
    pub detail: String,
    /// How many suppositions were tried.
    pub tried: u32,
    /// How long that took, in milliseconds.
    pub took_ms: u64,
    /// What was looked for: proven first, then likely, then ruled out.
    pub causes: Vec<ExplainedCause>,
    /// What is signed, in the order in which it is signed.
    pub signed_content: Vec<ContentPart>,
    /// The URL that was called, where that is signed.
    #[serde(default)]
    pub called: Option<CalledUrl>,
    /// The signatures that the request carries, as they were sent.
    pub got: Vec<String>,
    /// The signature that the chosen secret makes of it.
    pub expected: Option<String>,
    /// What fits instead, where something does.
    pub fitting: Option<Fitting>,
    /// The body as it must have been when it was signed, where that was found.
    pub rebuilt_body_base64: Option<String>,
    /// What tells the two bodies apart.
    pub body_note: Option<String>,
    /// Every secret of the source.
    pub secrets: Vec<SecretFit>,
    /// A change to the receiver's code that mends it.
    pub fix: Option<CodeFix>,
}

/// The URL for which a signature was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CalledUrl {
    /// The URL.
    pub url: String,
    /// Who says that it was called by this name, as a sentence or two; empty where that is not known.
    pub note: String,
}

/// Something that may be the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExplainedCause {
    /// A stable code such as `body_reserialized`.
    pub code: String,
    /// Its name for people.
    pub title: String,
    /// How sure that is.
    pub state: CauseState,
    /// What was seen that says so.
    pub evidence: String,
    /// What was found, as a sentence.
    pub message: String,
    /// What to do about it, as a sentence.
    pub fix: String,
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// The signature fits once it is undone.
    Proven,
    /// What was seen speaks for it.
    Likely,
    /// It was tried and does not explain it.
    RuledOut,
}

/// A piece of what is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ContentPart {
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub kind: ContentKind,
}

/// Where a piece of what is signed comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// A place in the request, such as its body.
    Place,
    /// The scheme's own text, such as the dot between two places.
    Literal,
}

/// What fits instead of what is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Fitting {
    /// What it is, such as `secret of stripe-live`.
    pub label: String,
    /// The signature that it makes.
    pub value: String,
}

/// Whether a secret fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SecretFit {
    /// Its label.
    pub label: String,
    /// Whether the signature holds with it.
    pub fits: bool,
}

/// A change to the receiver's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CodeFix {
    /// What it does.
    pub title: String,
    /// The same change for each framework, the one that was guessed first.
    pub frameworks: Vec<FrameworkFix>,
}

/// A change to code that is written with one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FrameworkFix {
    /// A stable id such as `express`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether the receiver seems to be written with it.
    pub guessed: bool,
    /// Why it seems so.
    pub why: Option<String>,
    /// The change, line by line.
    pub lines: Vec<FixLine>,
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FixLine {
    /// What becomes of it.
    pub kind: FixKind,
    /// Its text.
    pub text: String,
}

/// What becomes of a line of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// It stays.
    Same,
    /// It goes.
    Del,
    /// It comes.
    Add,
}

impl Explanation {
    /// The causes as an event keeps them: those that were not ruled out.
    pub fn kept_causes(&self) -> Vec<Cause> {
        let kept = self.causes.iter().filter(|cause| cause.state != CauseState::RuledOut);
        let kept = kept.map(|cause| Cause {
            code: cause.code.clone(),
            title: Some(cause.title.clone()),
            message: cause.message.clone(),
            fix: cause.fix.clone(),
        });
        kept.collect()
    }
}
