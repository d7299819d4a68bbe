//! The explanation of a verdict in detail. Every part of it is evidence that can be checked.

use serde::{Deserialize, Serialize};

use crate::{Cause, Verdict};

/// A verdict with its explanation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The signature scheme that was verified.
    pub scheme: Option<String>,
    /// The scheme for people, such as `v1, HMAC-SHA256`.
    pub scheme_name: Option<String>,
    /// The finding in one sentence.
    pub sentence: String,
    /// More to know about the finding, in a sentence or two. Empty if there is nothing to add.
    pub detail: String,
    /// How many possible causes were tried.
    pub tried: u32,
    /// How long finding the explanation took, in milliseconds.
    pub took_ms: u64,
    /// The causes that were tried: proven ones first, then likely ones, then those that were ruled out.
    pub causes: Vec<ExplainedCause>,
    /// The pieces of the signed content, in the order in which they are signed.
    pub signed_content: Vec<ContentPart>,
    /// The URL that was called, if the signature covers it.
    #[serde(default)]
    pub called: Option<CalledUrl>,
    /// The signatures in the request, as they were sent.
    pub got: Vec<String>,
    /// The signature that the chosen secret produces for the signed content.
    pub expected: Option<String>,
    /// What makes the signature fit, if something was found.
    pub fitting: Option<Fitting>,
    /// The body as it must have been when it was signed, in base64, if it was found.
    pub rebuilt_body_base64: Option<String>,
    /// How the received body differs from the rebuilt one: what happened to it after it was signed.
    pub body_note: Option<String>,
    /// Every secret of the source, and whether it fits.
    pub secrets: Vec<SecretFit>,
    /// A change to the receiver's code that fixes the problem.
    pub fix: Option<CodeFix>,
}

/// The URL against which a signature was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CalledUrl {
    /// The URL.
    pub url: String,
    /// How it is known that this URL was called, in a sentence or two. Empty if it is not known.
    pub note: String,
}

/// A possible cause of the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExplainedCause {
    /// A stable code such as `body_reserialized`.
    pub code: String,
    /// The cause's name for people.
    pub title: String,
    /// How certain the cause is.
    pub state: CauseState,
    /// The observation that supports the cause or rules it out.
    pub evidence: String,
    /// What was found, as a sentence.
    pub message: String,
    /// What to do about it, as a sentence.
    pub fix: String,
}

/// How certain a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// The signature fits once the cause is undone.
    Proven,
    /// There is evidence for the cause.
    Likely,
    /// The cause was tried and does not explain the verdict.
    RuledOut,
}

/// A piece of the signed content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ContentPart {
    /// The piece's text.
    pub text: String,
    /// Where the piece comes from.
    pub kind: ContentKind,
}

/// Where a piece of the signed content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// A place in the request, such as its body.
    Place,
    /// The scheme's own text, such as the dot between two places.
    Literal,
}

/// What makes the signature fit in place of what is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fitting {
    /// What it is, such as `secret of stripe-live`.
    pub label: String,
    /// The signature that it produces.
    pub value: String,
}

/// Whether one secret fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SecretFit {
    /// The secret's label.
    pub label: String,
    /// Whether the signature is valid with this secret.
    pub fits: bool,
}

/// A change to the receiver's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CodeFix {
    /// What the change does.
    pub title: String,
    /// The same change for each framework, the guessed framework first.
    pub frameworks: Vec<FrameworkFix>,
}

/// The change for code written with one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FrameworkFix {
    /// A stable id such as `express`.
    pub id: String,
    /// The framework's name for people.
    pub name: String,
    /// Whether the receiver seems to be written with this framework.
    pub guessed: bool,
    /// Why it seems so.
    pub why: Option<String>,
    /// The change, line by line.
    pub lines: Vec<FixLine>,
}

/// A line of code in a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FixLine {
    /// What the change does to the line.
    pub kind: FixKind,
    /// The line's text.
    pub text: String,
}

/// What a change does to a line of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// The line stays.
    Same,
    /// The line is removed.
    Del,
    /// The line is added.
    Add,
}

impl Explanation {
    /// Returns the causes that are stored with an event: all that were not ruled out.
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
