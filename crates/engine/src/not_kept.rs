//! Why a secret that a set-up request delivers is not stored.

use hookmitt_event::{Cause, Explain, Slug};

/// Why a delivered secret is not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    /// The source's provider is not set.
    #[error("#{seq} contains a secret, but {slug} isn't set to a provider: anyone can send such a request")]
    ProviderNotSet {
        /// The event's sequence number.
        seq: i64,
        /// The event's source.
        slug: Slug,
    },
    /// A web page sent the event.
    #[error("#{0} was sent by a web page, so its secret isn't stored")]
    ByWebPage(i64),
    /// The event was imported, or made here.
    #[error("#{0} didn't come from its sender, so its secret isn't stored")]
    NotReceived(i64),
    /// The event came too long ago.
    #[error("#{0} is more than 10 minutes old, and its secret could be accepted only for that long")]
    Late(i64),
    /// The source has a secret already.
    #[error(
        "#{seq} contains a secret, but {slug} already has one: whoever sent it could sign events of {slug} from \
         then on"
    )]
    AnotherThere {
        /// The event's sequence number.
        seq: i64,
        /// The event's source.
        slug: Slug,
    },
    /// The source has a secret with that label.
    #[error("{slug} already has a secret {label:?}, which would be lost")]
    LabelTaken {
        /// The source.
        slug: Slug,
        /// The label.
        label: String,
    },
}

impl Explain for NotKept {
    fn code(&self) -> &'static str {
        match self {
            Self::ProviderNotSet { .. } => "provider-not-set",
            Self::ByWebPage(_) => "sent-by-web-page",
            Self::NotReceived(_) => "not-received",
            Self::Late(_) => "offer-over",
            Self::AnotherThere { .. } => "secret-there",
            Self::LabelTaken { .. } => "label-taken",
        }
    }

    fn hint(&self) -> Option<String> {
        let by_hand = "if you know the secret, store it with `hookmitt secret set`";
        Some(match self {
            Self::ProviderNotSet { slug, .. } => {
                format!(
                    "if the source belongs to a provider, set it: `hookmitt source edit {slug} --provider ID`"
                )
            }
            Self::ByWebPage(_) | Self::NotReceived(_) => by_hand.to_owned(),
            Self::Late(_) => format!("create the webhook again; {by_hand}"),
            Self::AnotherThere { seq, .. } => format!(
                "if you have just created a second webhook there, `hookmitt secret accept '#{seq}' --label NAME` \
                 adds its secret"
            ),
            Self::LabelTaken { .. } => "use another --label".to_owned(),
        })
    }
}

impl NotKept {
    /// Returns the same as a cause, in sentences.
    pub(crate) fn note(&self) -> Cause {
        let message = self.to_string();
        let fix = self.hint().unwrap_or_default();
        Cause {
            code: self.code().replace('-', "_"),
            title: None,
            message: sentence(&message),
            fix: sentence(&fix),
        }
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
