//! A possible cause in words, found or ruled out.

use hookmitt_event::{Cause, CauseState, ExplainedCause};

/// A possible cause of the verdict.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) cause: ExplainedCause,
    /// The text after `Invalid: `, if it isn't the message.
    pub(crate) sentence: Option<String>,
    /// Further information.
    pub(crate) detail: Option<String>,
    /// A label for what matches, such as `For compact JSON`.
    pub(crate) fitting: Option<String>,
    /// The body as it was signed.
    pub(crate) body: Option<Vec<u8>>,
    /// An alternative explanation for the same finding.
    pub(crate) also: Option<Box<Finding>>,
}

impl Finding {
    pub(crate) fn new(code: &str, state: CauseState, evidence: impl Into<String>) -> Self {
        let cause = ExplainedCause {
            code: code.to_owned(),
            title: title(code).to_owned(),
            state,
            evidence: evidence.into(),
            message: String::new(),
            fix: String::new(),
        };
        Self { cause, sentence: None, detail: None, fitting: None, body: None, also: None }
    }

    /// Creates a finding that makes the signature match.
    pub(crate) fn proven(code: &str, evidence: impl Into<String>) -> Self {
        Self::new(code, CauseState::Proven, evidence)
    }

    /// Creates a finding that is supported by evidence, but not proven.
    pub(crate) fn likely(code: &str, evidence: impl Into<String>) -> Self {
        Self::new(code, CauseState::Likely, evidence)
    }

    /// Creates a finding from a cause that the verdict itself names.
    pub(crate) fn of_cause(cause: &Cause, state: CauseState) -> Self {
        Self::new(&cause.code, state, "").saying(&cause.message, &cause.fix)
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.cause.title = title.into();
        self
    }

    pub(crate) fn saying(mut self, message: impl Into<String>, fix: impl Into<String>) -> Self {
        self.cause.message = message.into();
        self.cause.fix = fix.into();
        self
    }

    pub(crate) fn sentence(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = Some(sentence.into());
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn fitting(mut self, label: impl Into<String>) -> Self {
        self.fitting = Some(label.into());
        self
    }

    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// Whether it says that nothing explains the verdict, and so is no cause itself.
    pub(crate) fn is_conclusion(&self) -> bool {
        self.cause.code == "no_match" && self.cause.state == CauseState::Likely
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.cause.state == CauseState::Proven
    }
}

/// Returns a title of about three words for a cause.
fn title(code: &str) -> &'static str {
    match code {
        "unsigned" => "No signature",
        "part_missing" => "Signed part missing",
        "no_match" => "No known secret fits",
        "body_reserialized" => "Body re-serialised",
        "newline_changed" => "Line endings changed",
        "bom_added" => "Byte order mark",
        "form_changed" => "Form re-encoded",
        "charset_changed" => "Character set changed",
        "body_decoded" => "Body decoded",
        "body_truncated" => "Body cut off",
        "secret_whitespace" => "Whitespace in secret",
        "secret_encoding" => "Secret read differently",
        "other_secret" => "Another secret fits",
        "public_secret" => "Public test secret",
        "signature_encoding" => "Signature encoding",
        "signature_truncated" => "Signature cut off",
        "signature_format" => "Signature format",
        "unknown_algorithm" => "Algorithm not checked",
        "algorithm_mismatch" => "Another algorithm",
        "timestamp_old" => "Timestamp too old",
        "timestamp_future" => "Timestamp ahead",
        "timestamp_unit" => "Timestamp unit",
        "url_mismatch" => "Signed for another URL",
        "untrusted_key" => "Key not trusted",
        "wrong_configuration" => "Wrong setting",
        "other_provider" => "Another provider's signature",
        "other_event" => "Another event's signature",
        "header_renamed" => "Header renamed",
        _ => "Signature doesn't match",
    }
}
