//! What a source can prove: which events may own a dedupe key, what a rejecting source lets through, and what it lacks
//! for that.

use hookmitt_event::{Cause, OnInvalid, Source, Verdict, Via};
use hookmitt_inbox::{AWAITS, HeldBack, REJECTED};
use hookmitt_verify::{Judgement, Provider, provider, providers};

use crate::settings::ConfiguredSource;

impl ConfiguredSource {
    /// Whether the source has something that can prove an event genuine: a secret, readable or not, or the settings
    /// that tie a provider's published keys to this source.
    pub(crate) fn can_prove(&self) -> bool {
        let is_set = |name: &str| self.source.params.contains_key(name);
        let publishes =
            |one: &Provider| one.missing_for_published_keys(is_set).is_some_and(|missing| missing.is_empty());
        self.has_secret
            || match self.source.provider.as_deref() {
                Some(set) => provider(set).is_some_and(publishes),
                None => providers().any(publishes),
            }
    }

    /// Whether an event with this verdict may own its dedupe key. If a source can prove events, only proved ones may,
    /// because a forged id must not shadow the genuine event. Pending and invalid events never own a key, nor do events
    /// from web pages.
    pub(crate) fn may_own(&self, verdict: Verdict, via: Via, browser: bool) -> bool {
        if via == Via::BackupSync {
            return true; // until its webhook comes: the provider's API vouches for it
        }
        let is_open = !self.can_prove() && !matches!(verdict, Verdict::Pending | Verdict::Invalid);
        !browser && (verdict == Verdict::Valid || is_open)
    }

    /// Whether a rejecting source rejects an event for good: every event that isn't proved. A copy from backup sync
    /// passes, because the provider's API vouches for it. A pending event is neither let through nor rejected yet.
    pub(crate) fn rejects(&self, verdict: Verdict, via: Via) -> bool {
        let is_open = matches!(verdict, Verdict::Valid | Verdict::Pending) || via == Via::BackupSync;
        self.source.on_invalid == OnInvalid::Reject && !is_open
    }

    /// Returns why a rejecting source doesn't forward an event with this verdict, or not yet.
    pub(crate) fn withholds(&self, verdict: Verdict, via: Via) -> Option<&'static str> {
        let waits = verdict == Verdict::Pending && via != Via::BackupSync;
        match self.source.on_invalid {
            OnInvalid::Record => None,
            OnInvalid::Reject if waits => Some(AWAITS),
            OnInvalid::Reject => self.rejects(verdict, via).then_some(REJECTED),
        }
    }

    /// Whether an event with this verdict may set the source's provider: it is valid and was received here, and no
    /// person, earlier event or scheme of the source's own has settled the provider.
    pub(crate) fn finds_provider(&self, verdict: Verdict, via: Via, browser: bool) -> bool {
        let Source { provider, provider_from, generic, .. } = &self.source;
        let is_open = provider.is_none() && provider_from.is_none() && generic.is_none();
        let came_in = !browser && matches!(via, Via::Direct | Via::Tunnel);
        is_open && came_in && verdict == Verdict::Valid
    }

    /// Returns what happens to deliveries that waited for a verdict, now that it is this one. They go on waiting if the
    /// published key could not be fetched, because the verdict may still change.
    pub(crate) fn held_back(&self, judgement: &Judgement) -> HeldBack {
        match judgement.verdict {
            Verdict::Valid => HeldBack::Send { on_duplicate: self.source.on_duplicate },
            Verdict::Pending => HeldBack::Wait,
            Verdict::Unsupported if judgement.wanted.is_some() => HeldBack::Wait,
            _ => HeldBack::Reject,
        }
    }

    /// Returns what a rejecting source lacks to let anything through; `None` if it doesn't reject or lacks nothing.
    pub(crate) fn lacks(&self) -> Option<Cause> {
        if self.source.on_invalid != OnInvalid::Reject {
            return None;
        }
        let slug = &self.source.slug;
        let is_set = |name: &str| self.source.params.contains_key(name);
        let set =
            self.source.provider.as_deref().and_then(provider).filter(|_| self.source.generic.is_none());
        let can_check = match set {
            Some(one) => one.can_check(&self.secrets, is_set),
            None => !self.secrets.is_empty() || !self.has_secret && self.can_prove(),
        };
        if can_check {
            return None;
        }
        let unset =
            set.and_then(|one| one.missing_for_published_keys(is_set)).filter(|unset| !unset.is_empty());
        let (why, fix) = match (set, unset) {
            (Some(one), _) if !one.signs() => (
                format!("{} signs nothing", one.name),
                format!(
                    "If you trust everyone who can reach it: `hookmitt source edit {slug} --on-invalid record`."
                ),
            ),
            (Some(one), Some(names)) => {
                let flags: Vec<_> = names.iter().map(|name| format!("--param {name}=…")).collect();
                (
                    format!("{}'s keys prove nothing without {}", one.name, names.join(" and ")),
                    format!("Set it: `hookmitt source edit {slug} {}`.", flags.join(" ")),
                )
            }
            _ if self.has_secret && self.secrets.is_empty() => {
                ("its secret can't be read".to_owned(), "`hookmitt secret list` says why.".to_owned())
            }
            (Some(one), None) if self.has_secret => (
                format!("its secret doesn't have the form that {}'s signatures need", one.name),
                format!("Set the right one: `hookmitt secret set {slug}`."),
            ),
            _ => ("no secret is set".to_owned(), format!("Set it: `hookmitt secret set {slug}`.")),
        };
        Some(Cause {
            code: "nothing_to_verify_by".to_owned(),
            title: None,
            message: format!(
                "{slug} rejects unverified events, but {why}: every event is answered 401 and withheld."
            ),
            fix,
        })
    }
}
