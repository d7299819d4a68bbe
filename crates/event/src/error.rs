//! How an error speaks to a person: a stable code, a message and the next step.

/// An error that names itself and says what to do next.
///
/// The code is stable: the UI, scripts and tests match on it, never on the message.
pub trait Explain: std::error::Error {
    /// A stable, kebab-case name such as `unknown-event`.
    fn code(&self) -> &'static str;

    /// What the person can do about it, as a sentence fragment; `None` where there is nothing to add.
    fn hint(&self) -> Option<String> {
        None
    }
}
