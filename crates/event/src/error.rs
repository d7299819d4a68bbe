//! How errors are presented to people: a stable code, a message and the next step.

/// An error that has a stable code and says what to do next.
///
/// The UI, scripts and tests match on the code, never on the message.
pub trait Explain: std::error::Error {
    /// Returns the stable code, in kebab case, such as `unknown-event`.
    fn code(&self) -> &'static str;

    /// Returns what the user can do about the error, as a sentence fragment, or `None` if there is nothing to add.
    fn hint(&self) -> Option<String> {
        None
    }
}
