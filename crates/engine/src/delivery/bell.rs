//! How a courier is woken.

use tokio::sync::Notify;

/// Rings where there is something new for a target, and louder where somebody wants it to be looked at now.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    news: Notify,
    urgent: Notify,
}

impl Bell {
    /// Something came in.
    pub(crate) fn ring(&self) {
        self.news.notify_one();
    }

    /// Somebody asks for it, or the target was changed: it is looked at now, even if it is down.
    pub(crate) fn urge(&self) {
        self.urgent.notify_one();
        self.news.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.news.notified().await;
    }

    pub(crate) async fn urged(&self) {
        self.urgent.notified().await;
    }
}
