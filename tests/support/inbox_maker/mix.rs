//! Which sources there are, how much each sends, and where that goes.

use hookmitt_event::{OrderMode, Source, TargetId, TargetKind, Timestamp};
use hookmitt_inbox::{Inbox, InboxError, SourceSettings, TargetSettings};

/// A source of the made inbox.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) slug: &'static str,
    /// The catalogue id; `None` for a plain source.
    pub(super) provider: Option<&'static str>,
    /// Events of a thousand.
    pub(super) weight: usize,
    /// How many targets it has.
    pub(super) targets: usize,
    /// Whether it has the provider's public test secret.
    pub(super) has_secret: bool,
}

const fn kind(slug: &'static str, provider: &'static str, weight: usize, targets: usize) -> Kind {
    Kind { slug, provider: Some(provider), weight, targets, has_secret: true }
}

const fn without_secret(
    slug: &'static str,
    provider: Option<&'static str>,
    weight: usize,
    targets: usize,
) -> Kind {
    Kind { slug, provider, weight, targets, has_secret: false }
}

/// The mix. The weights are those of a shop that takes cards and is developed on GitHub. All providers sign with a shared
/// secret, because signatures by a key pair are random.
pub(super) const MIX: [Kind; 18] = [
    kind("stripe-live", "stripe", 160, 2),
    kind("stripe-test", "stripe", 40, 1),
    kind("github", "github", 150, 1),
    kind("shop", "shopify", 130, 3),
    kind("slack", "slack", 70, 1),
    kind("twilio", "twilio", 50, 1),
    kind("linear", "linear", 40, 1),
    kind("gitlab", "gitlab", 40, 2),
    kind("resend", "resend", 40, 0),
    kind("hubspot", "hubspot", 30, 1),
    kind("intercom", "intercom", 30, 1),
    kind("typeform", "typeform", 25, 0),
    kind("clerk", "clerk", 25, 1),
    kind("paddle", "paddle", 20, 1),
    without_secret("github-staging", Some("github"), 50, 1),
    without_secret("shop-staging", Some("shopify"), 30, 0),
    without_secret("orders", None, 40, 1),
    without_secret("sensors", None, 30, 0),
];

/// The targets of a made inbox.
pub(super) struct Targets {
    /// Those that deliver to the end.
    pub(super) running: Vec<TargetId>,
    /// The one that is paused towards the end.
    pub(super) paused: TargetId,
}

/// The address of every target. Nobody listens there.
const NOBODY: &str = "http://127.0.0.1:9";

/// Adds the sources and targets to an inbox. Returns the sources in the order of [`MIX`].
pub(super) async fn add(inbox: &Inbox, now: Timestamp) -> Result<(Vec<Source>, Targets), InboxError> {
    let (mut sources, mut running, mut paused) = (Vec::new(), Vec::new(), None);
    for kind in &MIX {
        let settings =
            SourceSettings { provider: kind.provider.map(str::to_owned), ..SourceSettings::default() };
        let slug: hookmitt_event::Slug = kind.slug.parse().expect("a slug");
        let source = inbox.add_source(slug.clone(), settings, false, now).await?;
        sources.push(source);
        for number in 1..=kind.targets {
            let url = format!("{NOBODY}/{}/{number}", kind.slug);
            let settings = TargetSettings::default();
            let target = inbox.add_target(Some(slug.clone()), url, settings, TargetKind::Kept, now).await?;
            // The third target of the shop is the only third one.
            if number == 3 { paused = Some(target.id) } else { running.push(target.id) }
        }
    }
    Ok((sources, Targets { running, paused: paused.expect("the shop has three targets") }))
}

/// Pauses a target.
pub(super) async fn pause(inbox: &Inbox, id: TargetId) -> Result<(), InboxError> {
    let all = inbox.targets().await?;
    let target = all.iter().find(|target| target.id == id).ok_or(InboxError::UnknownTarget(id.0))?;
    let settings = TargetSettings { order: OrderMode::default(), ..TargetSettings::from(target) };
    inbox.set_target(id, target.url.clone(), settings, true).await?;
    Ok(())
}
