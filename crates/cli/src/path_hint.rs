//! Points to `listen --path` if the local server has nothing at `/`.

use hookmitt_event::Plain;

use crate::{destination::Destination, live::News};

/// Gives the hint once, for the first event without a path that is answered 404.
pub(crate) struct PathHint {
    /// Whether the hint may still be given.
    open: bool,
    /// The target as the user would type it.
    target: String,
}

impl PathHint {
    /// Makes the hint for a target. There is nothing to say if a path was given.
    pub(crate) fn new(target: &Destination, has_path: bool) -> Self {
        let url = target.as_str();
        let port = url.strip_prefix("http://localhost:").map(|rest| rest.trim_end_matches('/'));
        Self { open: !has_path && target.is_root(), target: port.unwrap_or(url).to_owned() }
    }

    /// Returns the hint if this message calls for it.
    pub(crate) fn of(&mut self, news: &News) -> Option<String> {
        let News::Delivery(news) = news else { return None };
        let is_at_root = matches!(news.path.as_deref(), Some("" | "/"));
        let answer = news.delivery.attempts.last()?.response_status;
        if !self.open || !is_at_root || answer != Some(404) {
            return None;
        }
        self.open = false;
        Some(format!(
            "your server has nothing at /: say where its webhooks go, such as `hookmitt listen {} --path /webhooks`",
            Plain(&self.target)
        ))
    }
}
