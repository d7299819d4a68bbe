//! What can go wrong, in terms that a person can act on.

use hookmitt_detour::DetourError;
use hookmitt_event::{Explain, Slug, SlugError};
use hookmitt_forward::TargetUrlError;
use hookmitt_inbox::InboxError;
use hookmitt_index::IndexError;
use hookmitt_search::SearchError;
use hookmitt_tunnel::TunnelError;
use hookmitt_vault::VaultError;
use hookmitt_verify::{SampleError, SignError, VerifyError};

use crate::{NotKept, sync::SyncError};

/// What people should know before they use a channel.
const CHANNEL_LIMITS: &str = "Whoever knows its URL can read what is sent to it; it rewrites JSON, so signatures can't \
     verify; and it stores nothing while nobody listens";

const OWN_SERVER: &str = "use the address of your own server, such as http://localhost:3000";

/// Why the engine could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The inbox failed.
    #[error(transparent)]
    Inbox(#[from] InboxError),
    /// The search index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A text is no search.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A source's name is invalid.
    #[error(transparent)]
    Slug(#[from] SlugError),
    /// A target's URL is invalid.
    #[error(transparent)]
    TargetUrl(#[from] TargetUrlError),
    /// A secret could not be stored or removed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The settings of a source's own signature scheme are invalid.
    #[error(transparent)]
    Generic(#[from] VerifyError),
    /// A request could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// There is no such sample.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// There is no source of that name.
    #[error("there is no source {slug}")]
    UnknownSource {
        /// The name.
        slug: Slug,
        /// Sources with names like it; where a provider's id makes one, those ids, too.
        near: Vec<String>,
        /// Whether the call would have made the source if asked to.
        can_create: bool,
    },
    /// No provider has that id.
    #[error("there is no provider {0:?}")]
    UnknownProvider(String),
    /// The provider has no parameter of that name.
    #[error("{provider} has no parameter {name:?}")]
    UnknownParam {
        /// The provider's name.
        provider: String,
        /// The name that was given.
        name: String,
        /// The names that the provider has.
        known: Vec<&'static str>,
    },
    /// No provider has a scheme with that id.
    #[error("there is no scheme {0:?}")]
    UnknownScheme(String),
    /// A relay can't be used, or it refused.
    #[error(transparent)]
    Tunnel(#[from] TunnelError),
    /// A tunnel has no such device.
    #[error("the tunnel has no device {0:?}")]
    UnknownDevice(String),
    /// A tunnel was to be opened without a token.
    #[error("a relay opens tunnels only for holders of its tokens")]
    NoRelayToken,
    /// This inbox already takes part in the tunnel.
    #[error("this inbox has already joined that tunnel: {0:?}")]
    TakesPart(String),
    /// A channel or a program can't be used.
    #[error(transparent)]
    Detour(#[from] DetourError),
    /// A channel was to be added without its URL.
    #[error("the channel's URL is missing")]
    NoChannelUrl,
    /// A channel or a program was to be added without a source.
    #[error("a channel or a program needs a source")]
    NoTunnelSource,
    /// Only a channel is left to get a public URL by, and nobody has agreed to one.
    #[error("only a channel at {0} is left for a public URL. {CHANNEL_LIMITS}")]
    OnlyChannel(String),
    /// A target is one of our own addresses.
    #[error("{0} is hookmitt's own address: events would loop")]
    OwnAddress(String),
    /// There is no target.
    #[error("{0} has no target")]
    NoTargets(String),
    /// A source can't be synced with its provider.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// Something in the request makes no sense.
    #[error("{0}")]
    BadInput(String),
    /// The event is in the bin.
    #[error("#{0} is deleted")]
    Deleted(i64),
    /// The event delivers no secret that could be stored.
    #[error("#{0} doesn't deliver a secret")]
    DeliversNoSecret(i64),
    /// The delivered secret may not be stored.
    #[error(transparent)]
    NotKept(#[from] NotKept),
    /// The event does not ask for a URL to be called.
    #[error("#{0} doesn't ask for a URL to be called")]
    NothingToConfirm(i64),
    /// The set-up request is not `valid`, so its URL is not called.
    #[error("#{0} isn't known to be genuine, so its URL isn't called")]
    NotGenuine(i64),
    /// The set-up request is confirmed already.
    #[error("#{0} is already confirmed")]
    AlreadyConfirmed(i64),
    /// The URL that a set-up request wants called is not one of its provider's.
    #[error("its URL isn't called: {0}")]
    ConfirmUrl(String),
    /// The call that should confirm a set-up request failed.
    #[error("the provider didn't confirm: {0}")]
    NotConfirmed(String),
    /// The event is signed with one of the owner's secrets, and can't be signed again for export.
    #[error(
        "#{seq} was signed here with one of your secrets. It can only be exported re-signed with the public test \
         secret, and that isn't possible: {why}"
    )]
    OwnSignature {
        /// The event's sequence number.
        seq: i64,
        /// Why it can't be signed again.
        why: String,
    },
    /// Exports without `raw` need redaction, which doesn't exist yet.
    #[error("redacted exports aren't available yet")]
    RedactionMissing,
    /// A fixture can't be read.
    #[error("{name}: {why}")]
    Fixture {
        /// The file's name.
        name: String,
        /// What is wrong with it.
        why: String,
        /// The next step.
        hint: Option<String>,
    },
    /// A flaw of the data directory could not be mended.
    #[error("{0}")]
    NotMended(String),
    /// Hookmitt is stopping, or a background task panicked.
    #[error("hookmitt is stopping")]
    Stopping,
}

impl EngineError {
    /// Returns the error of another part, if it is one, which explains itself.
    fn inner(&self) -> Option<&dyn Explain> {
        Some(match self {
            Self::Inbox(error) => error,
            Self::Index(error) => error,
            Self::Search(error) => error,
            Self::TargetUrl(error) => error,
            Self::Vault(error) => error,
            Self::Generic(error) => error,
            Self::Sign(error) => error,
            Self::Sample(error) => error,
            Self::Tunnel(error) => error,
            Self::Detour(error) => error,
            Self::Sync(error) => error,
            Self::NotKept(error) => error,
            _ => return None,
        })
    }
}

impl Explain for EngineError {
    fn code(&self) -> &'static str {
        if let Some(inner) = self.inner() {
            return inner.code();
        }
        match self {
            Self::Slug(_) => "bad-slug",
            Self::UnknownSource { .. } => "unknown-source",
            Self::UnknownProvider(_) => "unknown-provider",
            Self::UnknownParam { .. } => "unknown-param",
            Self::UnknownScheme(_) => "unknown-scheme",
            Self::UnknownDevice(_) => "unknown-device",
            Self::NoRelayToken => "no-relay-token",
            Self::TakesPart(_) => "tunnel-joined",
            Self::NoChannelUrl => "no-channel-url",
            Self::NoTunnelSource => "no-tunnel-source",
            Self::OnlyChannel(_) => "only-a-channel",
            Self::OwnAddress(_) => "own-address",
            Self::NoTargets(_) => "no-targets",
            Self::BadInput(_) => "bad-input",
            Self::NotMended(_) => "not-mended",
            Self::Deleted(_) => "deleted",
            Self::DeliversNoSecret(_) => "no-delivered-secret",
            Self::NothingToConfirm(_) => "nothing-to-confirm",
            Self::NotGenuine(_) => "not-genuine",
            Self::AlreadyConfirmed(_) => "already-confirmed",
            Self::ConfirmUrl(_) => "confirm-url",
            Self::NotConfirmed(_) => "not-confirmed",
            Self::OwnSignature { .. } => "own-signature",
            Self::RedactionMissing => "redaction-missing",
            Self::Fixture { .. } => "bad-fixture",
            // Those that explain themselves did.
            Self::Inbox(_)
            | Self::Index(_)
            | Self::Search(_)
            | Self::TargetUrl(_)
            | Self::Vault(_)
            | Self::Generic(_)
            | Self::Sign(_)
            | Self::Sample(_)
            | Self::Tunnel(_)
            | Self::Detour(_)
            | Self::Sync(_)
            | Self::NotKept(_)
            | Self::Stopping => "stopping",
        }
    }

    fn hint(&self) -> Option<String> {
        if let Some(inner) = self.inner() {
            return inner.hint();
        }
        match self {
            Self::Fixture { hint, .. } => hint.clone(),
            Self::Slug(_) => Some("such as github or stripe-test".to_owned()),
            Self::UnknownSource { near, can_create, .. } => Some(other_source(near, *can_create)),
            Self::UnknownProvider(_) => Some(one_of(&provider_ids())),
            Self::UnknownParam { known, .. } => Some(known_params(known)),
            Self::UnknownScheme(_) => Some("a provider's id selects its usual scheme".to_owned()),
            Self::UnknownDevice(_) => Some("`hookmitt tunnel devices` lists them".to_owned()),
            Self::NoRelayToken => {
                Some("create one at the relay: `hookmitt relay token create`".to_owned())
            }
            Self::TakesPart(_) => Some("see `hookmitt tunnel list`".to_owned()),
            Self::NoChannelUrl => {
                Some("such as https://smee.io/aBcDeF123; https://smee.io/new creates one".to_owned())
            }
            Self::NoTunnelSource => Some("`hookmitt source list` shows them".to_owned()),
            Self::OnlyChannel(_) => Some(
                "add a tunnel to a relay, install cloudflared, or accept the channel".to_owned(),
            ),
            Self::OwnAddress(_) => Some(OWN_SERVER.to_owned()),
            Self::NoTargets(_) => {
                Some("name one with --to URL, or add one: `hookmitt target add SLUG URL`".to_owned())
            }
            Self::OwnSignature { .. } => Some("export the original; `hookmitt show` names it".to_owned()),
            Self::RedactionMissing => Some(
                "`--raw` exports the exact bytes, secrets included: share the file only with people you trust"
                    .to_owned(),
            ),
            Self::Deleted(seq) => Some(format!("`hookmitt delete --undo '#{seq}'` restores it")),
            Self::DeliversNoSecret(_) => Some(
                "Asana's and Notion's first requests do; `hookmitt events` marks them".to_owned(),
            ),
            Self::NothingToConfirm(_) => Some("Amazon SNS's SubscriptionConfirmation does".to_owned()),
            Self::NotGenuine(_) => Some("`hookmitt verify ID` says what is missing".to_owned()),
            Self::ConfirmUrl(_) => Some("check it first: it may be forged".to_owned()),
            Self::NotConfirmed(_) => Some("ask the provider to send the request again".to_owned()),
            Self::NotMended(_) => Some("see to that, and run `hookmitt doctor --fix` again".to_owned()),
            _ => None,
        }
    }
}

fn one_of(names: &[&str]) -> String {
    format!("one of {}", names.join(", "))
}

fn known_params(known: &[&str]) -> String {
    if known.is_empty() { "everything it signs is in its requests".to_owned() } else { one_of(known) }
}

/// Names the similar sources, or says where all are, and says how a new one is made.
fn other_source(near: &[String], can_create: bool) -> String {
    let there = match near {
        [] => "`hookmitt source list` names them".to_owned(),
        near => format!("similar names: {}", near.join(", ")),
    };
    let makes = if can_create { "--create adds it" } else { "`hookmitt source add` adds it" };
    format!("{there}; {makes}")
}

fn provider_ids() -> Vec<&'static str> {
    hookmitt_verify::providers().map(|provider| provider.id.as_str()).collect()
}
