//! Sources, as people create, change and list them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hookmitt_event::{
    Answer, Cause, EventId, GenericScheme, HeaderLines, OnDuplicate, OnInvalid, ProviderFrom, Respond, Slug,
    Source,
};
use hookmitt_inbox::SourceSettings;
use hookmitt_verify::{provider, validate_generic};
use serde::{Deserialize, Serialize};

use super::{Secrets, hosts::allow_hosts, params::set_params};
use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
    sync::ApiKeys,
    tunnels::Register,
    verdicts::Verdicts,
};

/// A source as it is shown.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SourceView {
    /// The name of the source in URLs.
    pub slug: Slug,
    /// The catalogue id of its provider, if one is set.
    pub provider: Option<String>,
    /// The event that set the provider, as the source's first valid one. Setting another provider, or null, undoes
    /// that.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub provider_event: Option<EventId>,
    /// What is done with an event whose signature does not hold.
    pub on_invalid: OnInvalid,
    /// What is done with a duplicate.
    pub on_duplicate: OnDuplicate,
    /// The URL that the provider calls, if something else stands in front of hookmitt: the one that was set, else that
    /// of a channel or a program that serves this source now.
    pub public_url: Option<String>,
    /// Whether that URL was set.
    pub public_url_set: bool,
    /// Host names that GET and HEAD requests may call at the capture port, besides those of this machine.
    pub allowed_hosts: BTreeSet<String>,
    /// How old a signed timestamp may be, in seconds.
    pub tolerance_s: Option<u32>,
    /// What the capture port answers.
    pub answer: Answer,
    /// The signature scheme of a source whose provider is not in the catalogue.
    pub generic: Option<GenericScheme>,
    /// Parameters: settings that its verdicts depend on and that requests don't carry, such as a webhook id, by name.
    pub params: BTreeMap<String, String>,
    /// Whether a genuine set-up request that asks for a URL to be called is confirmed without a click.
    pub confirm: bool,
    /// Whether the source was created by a request to an unknown name at the capture port.
    pub auto_created: bool,
    /// The labels of its secrets that could be read.
    pub secrets: Vec<String>,
    /// If the source rejects events that aren't proved: what it lacks to let any event through.
    pub lacks: Option<Cause>,
}

/// A change to a source. Absent fields stay as they are, and null unsets a field.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SourceChange {
    /// The catalogue id of its provider.
    #[serde(deserialize_with = "given")]
    pub provider: Option<Option<String>>,
    /// What is done with an event whose signature does not hold.
    pub on_invalid: Option<OnInvalid>,
    /// What is done with a duplicate.
    pub on_duplicate: Option<OnDuplicate>,
    /// The URL that the provider calls.
    #[serde(deserialize_with = "given")]
    pub public_url: Option<Option<String>>,
    /// Host names that GET and HEAD requests may call at the capture port: true allows a name, false removes it, and
    /// names that are not listed stay.
    pub allowed_hosts: Option<BTreeMap<String, bool>>,
    /// How old a signed timestamp may be, in seconds.
    #[serde(deserialize_with = "given")]
    pub tolerance_s: Option<Option<u32>>,
    /// What the capture port answers. Absent fields stay here, too.
    pub answer: Option<AnswerChange>,
    /// The signature scheme of a source whose provider is not in the catalogue.
    #[serde(deserialize_with = "given")]
    pub generic: Option<Option<GenericScheme>>,
    /// Parameters to set, by name. Null or an empty text unsets a parameter, and those that are not listed stay. Null
    /// instead of the list unsets all.
    #[serde(deserialize_with = "given")]
    pub params: Option<Option<BTreeMap<String, Option<String>>>>,
    /// Whether a genuine set-up request that asks for a URL to be called is confirmed without a click.
    pub confirm: Option<bool>,
}

/// A change to what the capture port answers. Absent fields stay as they are, and null unsets a field.
#[derive(Clone, Debug, Default, Deserialize, Serialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerChange {
    /// The status, 200 to 599; if unset, 200 if the provider is known, else 202.
    #[serde(deserialize_with = "given")]
    pub status: Option<Option<u16>>,
    /// Header lines to add to the answer.
    #[schema(value_type = Option<Vec<(String, String)>>)]
    pub headers: Option<HeaderLines>,
    /// The body, instead of `{"received":true,"id":…}`.
    #[serde(deserialize_with = "given")]
    pub body: Option<Option<String>>,
    /// How long to wait before answering, in milliseconds, at most 60,000.
    pub delay_ms: Option<u64>,
    /// How many of the next requests are answered 500 (they are stored all the same).
    pub fail_next: Option<u32>,
    /// Who answers: hookmitt, or the local server.
    #[serde(deserialize_with = "given")]
    pub respond: Option<Option<Respond>>,
}

/// Deserializes a field so that an absent one can be told from null: null becomes `Some(None)`.
pub(crate) fn given<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(input).map(Some)
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl AnswerChange {
    fn apply(self, answer: &mut Answer) {
        set(&mut answer.status, self.status);
        set(&mut answer.headers, self.headers);
        set(&mut answer.body, self.body);
        set(&mut answer.delay_ms, self.delay_ms);
        set(&mut answer.fail_next, self.fail_next);
        set(&mut answer.respond, self.respond);
    }
}

impl SourceChange {
    fn apply(self, settings: &mut SourceSettings) -> Result<(), EngineError> {
        if self.provider.is_some() {
            settings.provider_from = Some(ProviderFrom::Hand);
        }
        set(&mut settings.provider, self.provider);
        set(&mut settings.on_invalid, self.on_invalid);
        set(&mut settings.on_duplicate, self.on_duplicate);
        set(&mut settings.public_url, self.public_url);
        allow_hosts(&mut settings.allowed_hosts, self.allowed_hosts.unwrap_or_default())?;
        set(&mut settings.tolerance_s, self.tolerance_s);
        self.answer.unwrap_or_default().apply(&mut settings.answer);
        set(&mut settings.generic, self.generic);
        set(&mut settings.confirm, self.confirm);
        if let Some(params) = self.params {
            set_params(params, settings)?;
        }
        check(settings)
    }
}

fn check(settings: &SourceSettings) -> Result<(), EngineError> {
    if let Some(id) = &settings.provider
        && provider(id).is_none()
    {
        return Err(EngineError::UnknownProvider(id.clone()));
    }
    if let Some(generic) = &settings.generic {
        validate_generic(generic)?;
    }
    if let Some(public) = &settings.public_url {
        let url = url::Url::parse(public).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let fits = url.is_some_and(|url| url.has_host() && url.query().is_none() && url.fragment().is_none());
        if !fits {
            let message =
                format!("{public:?} can't be a public URL: use http(s)://host/path without a query");
            return Err(EngineError::BadInput(message));
        }
    }
    let status = settings.answer.status.unwrap_or(200);
    if !(200..=599).contains(&status) {
        return Err(EngineError::BadInput(format!("{status} isn't a status to answer with: use 200 to 599")));
    }
    if settings.answer.delay_ms > 60_000 {
        return Err(EngineError::BadInput("an answer can be delayed by at most 60 seconds".to_owned()));
    }
    Ok(())
}

/// The sources, as people create and change them.
#[derive(Clone, Debug)]
pub struct Sources {
    settings: Arc<Settings>,
    secrets: Secrets,
    api_keys: ApiKeys,
    verdicts: Arc<Verdicts>,
    tunnels: Arc<Register>,
}

impl Sources {
    pub(crate) const fn new(
        settings: Arc<Settings>,
        secrets: Secrets,
        api_keys: ApiKeys,
        verdicts: Arc<Verdicts>,
        tunnels: Arc<Register>,
    ) -> Self {
        Self { settings, secrets, api_keys, verdicts, tunnels }
    }

    /// Returns every source, sorted by name.
    pub fn all(&self) -> Vec<SourceView> {
        let config = self.settings.now();
        let mut views: Vec<_> = config.sources.values().map(|known| self.view(known)).collect();
        views.sort_by(|one, other| one.slug.cmp(&other.slug));
        views
    }

    /// Returns one source.
    ///
    /// # Errors
    /// Fails if the source is unknown.
    pub fn one(&self, slug: &Slug) -> Result<SourceView, EngineError> {
        Ok(self.view(&*self.settings.source(slug)?))
    }

    /// Creates a source.
    ///
    /// # Errors
    /// Fails if the source exists already, the provider is unknown, or the settings are invalid.
    pub async fn add(&self, slug: Slug, change: SourceChange) -> Result<SourceView, EngineError> {
        let mut settings = SourceSettings::default();
        change.apply(&mut settings)?;
        self.settings.base.inbox.add_source(slug.clone(), settings, false, self.settings.base.now()).await?;
        self.settings.reload().await?;
        self.one(&slug)
    }

    /// Changes a source, and judges its events again if the change can alter a verdict.
    ///
    /// # Errors
    /// Fails like [`add`](Self::add), and if the source is unknown.
    pub async fn change(&self, slug: Slug, change: SourceChange) -> Result<SourceView, EngineError> {
        self.settings.source(&slug)?;
        // Starts from the stored settings, because a `listen` command may have lent the source in memory a provider.
        let stored = self.settings.base.inbox.sources().await?.into_iter().find(|source| source.slug == slug);
        let stored = stored.ok_or_else(|| hookmitt_inbox::InboxError::UnknownSource(slug.to_string()))?;
        let before = SourceSettings::from(&stored);
        let mut settings = before.clone();
        change.apply(&mut settings)?;
        let judges = |settings: &SourceSettings| {
            (
                settings.provider.clone(),
                settings.generic.clone(),
                settings.tolerance_s,
                settings.public_url.clone(),
                settings.params.clone(),
            )
        };
        let differs = judges(&before) != judges(&settings);
        self.settings.base.inbox.set_source(slug.clone(), settings).await?;
        self.settings.reload().await?;
        if differs {
            self.verdicts.rejudge(&slug).await?;
        }
        self.one(&slug)
    }

    /// Removes a source with its secrets, its API key and its targets. Its events stay.
    ///
    /// # Errors
    /// Fails if the source is unknown, or if the keychain doesn't delete a secret.
    pub async fn remove(&self, slug: Slug) -> Result<(), EngineError> {
        self.settings.source(&slug)?;
        for secret in self.secrets.list().await? {
            if secret.source == slug {
                self.secrets.remove(slug.clone(), secret.label).await?;
            }
        }
        self.api_keys.remove(slug.clone()).await?;
        let config = self.settings.now();
        let targets = config.targets.values().filter(|target| target.source.as_ref() == Some(&slug));
        let targets: Vec<_> = targets.map(|target| target.id).collect();
        for target in &targets {
            self.settings.base.inbox.remove_target(*target, self.settings.base.now()).await?;
        }
        self.settings.base.inbox.remove_source(slug, self.settings.base.now()).await?;
        self.settings.reload().await?;
        for target in targets {
            self.settings.base.inbox.refuse_waiting(target).await?;
        }
        Ok(())
    }
}

impl Sources {
    fn view(&self, known: &ConfiguredSource) -> SourceView {
        let source = known.source.clone();
        let secrets = known.secrets.iter().map(|secret| secret.label.clone()).collect();
        let through_tunnel = self.tunnels.public_url_of(&source.slug);
        view(source, through_tunnel, secrets, known.lacks())
    }
}

fn view(
    source: Source,
    through_tunnel: Option<String>,
    secrets: Vec<String>,
    lacks: Option<Cause>,
) -> SourceView {
    SourceView {
        slug: source.slug,
        provider_event: match source.provider_from {
            Some(ProviderFrom::Event(event)) => Some(event),
            Some(ProviderFrom::Hand) | None => None,
        },
        provider: source.provider,
        on_invalid: source.on_invalid,
        on_duplicate: source.on_duplicate,
        public_url_set: source.public_url.is_some(),
        public_url: source.public_url.or(through_tunnel),
        allowed_hosts: source.allowed_hosts,
        tolerance_s: source.tolerance_s,
        answer: source.answer,
        generic: source.generic,
        params: source.params,
        confirm: source.confirm,
        auto_created: source.auto_created,
        secrets,
        lacks,
    }
}
