//! Secrets that set-up requests deliver. A secret is stored only if a person says so, who is shown who sent it and when
//! (Threat 11).
//!
//! Whoever gets a secret accepted can sign the source's events from then on. Therefore a delivered secret is offered
//! only for a source whose provider is set, and only for a short time, while the person who has just created the
//! webhook is looking.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{Cause, Event, EventId, HandshakeOffer, Slug, Timestamp, Verdict, Via};
use hookmitt_verify::SecretBytes;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::Secrets;
use crate::{
    Change, EngineError, NotKept,
    judging::{asked, is_confirmed},
    settings::{ConfiguredSource, Settings},
};

/// How long a delivered secret is offered after it was received.
const OFFERED_FOR: Duration = Duration::from_secs(10 * 60);

/// The label of a source's only secret.
const USUAL: &str = "default";

/// What a person can still do about a set-up request.
#[derive(Debug, Default)]
pub struct Next {
    /// What one click does.
    pub offer: Option<HandshakeOffer>,
    /// Why there is nothing to click, or why the request was not answered, and what to do instead.
    pub note: Option<Cause>,
}

/// Checks whether the secret that an event brings may be stored; the error says why not.
fn may_be_kept(known: &ConfiguredSource, event: &Event, now: Timestamp) -> Result<(), NotKept> {
    let seq = event.seq;
    if known.source.provider.is_none() {
        return Err(NotKept::ProviderNotSet { seq, slug: event.source.clone() });
    }
    if event.browser {
        return Err(NotKept::ByWebPage(seq));
    }
    if !matches!(event.via, Via::Direct | Via::Tunnel) {
        return Err(NotKept::NotReceived(seq));
    }
    let age = now.as_micros().saturating_sub(event.received_at.as_micros());
    let age = Duration::from_micros(age.unsigned_abs());
    // A time in the future, from a relay or a wrong clock, counts as old, too. `stored_for` counts in case the clock
    // was set back since.
    if age.max(event.stored_for.unwrap_or_default()) > OFFERED_FOR {
        return Err(NotKept::Late(seq));
    }
    Ok(())
}

/// Offers and stores the secrets that set-up requests deliver.
#[derive(Debug)]
pub struct DeliveredSecrets {
    settings: Arc<Settings>,
    secrets: Secrets,
    /// Held while a secret is stored, so that two clicks count as one.
    one_at_a_time: Mutex<()>,
}

impl DeliveredSecrets {
    pub(crate) fn new(settings: Arc<Settings>, secrets: Secrets) -> Self {
        Self { settings, secrets, one_at_a_time: Mutex::default() }
    }

    /// Returns what a person can do about an event at `now`, if it is a set-up request.
    pub fn next(&self, event: &Event, now: Timestamp) -> Next {
        let known = event.handshake.as_ref().and_then(|_| self.settings.source(&event.source).ok());
        let Some(known) = known else { return Next::default() };
        let Some(handshake) = asked(&known, event) else { return Next::default() };
        if let Some(secret) = &handshake.delivered_secret {
            return next_of_secret(&known, event, secret, now);
        }
        if handshake.needs_secret && event.handshake_answer.is_none() && known.source.provider.is_none() {
            return Next { offer: None, note: Some(unanswered(&event.source)) };
        }
        let can = handshake.confirm.is_some() && !is_confirmed(event) && event.verdict == Verdict::Valid;
        Next { offer: can.then_some(HandshakeOffer::Confirm), note: None }
    }

    /// Stores the secret that a set-up request delivers, and judges the source's events again. Returns the source and
    /// the label. If the source already has a secret, the caller must give a new label, because nothing is replaced.
    ///
    /// # Errors
    /// Fails if the event delivers no secret, if the secret may not be stored ([`NotKept`]), or if the vault fails.
    pub async fn save(&self, id: EventId, label: Option<String>) -> Result<(Slug, String), EngineError> {
        let _alone = self.one_at_a_time.lock().await;
        let event = self.settings.base.inbox.event(id).await?;
        let (slug, seq) = (event.source.clone(), event.seq);
        let known = self.settings.source(&slug)?;
        let secret = asked(&known, &event).and_then(|handshake| handshake.delivered_secret);
        let secret = secret.ok_or(EngineError::DeliversNoSecret(seq))?;
        if let Some(kept) = known.secrets.iter().find(|known| *known.value() == secret) {
            return Ok((slug, kept.label.clone()));
        }
        may_be_kept(&known, &event, self.settings.base.now())?;
        let listed = self.secrets.list().await?;
        let own: Vec<_> = listed.iter().filter(|entry| entry.source == slug).collect();
        let label = match label {
            Some(label) if own.iter().any(|entry| entry.label == label) => {
                return Err(NotKept::LabelTaken { slug, label }.into());
            }
            None if known.has_secret || !own.is_empty() => {
                return Err(NotKept::AnotherThere { seq, slug }.into());
            }
            label => label.unwrap_or_else(|| USUAL.to_owned()),
        };
        self.secrets.set(slug.clone(), label.clone(), Zeroizing::new(secret.expose().to_vec())).await?;
        self.settings.base.announce(Change::Event(id));
        Ok((slug, label))
    }
}

fn next_of_secret(known: &ConfiguredSource, event: &Event, secret: &SecretBytes, now: Timestamp) -> Next {
    if known.secrets.iter().any(|known| known.value() == secret) {
        return Next::default();
    }
    let objection = match may_be_kept(known, event, now) {
        Ok(()) if !known.has_secret => return Next { offer: Some(HandshakeOffer::SaveSecret), note: None },
        Ok(()) => NotKept::AnotherThere { seq: event.seq, slug: event.source.clone() },
        Err(objection) => objection,
    };
    Next { offer: None, note: Some(objection.note()) }
}

fn unanswered(slug: &Slug) -> Cause {
    Cause {
        code: "provider_not_set".to_owned(),
        title: None,
        message: format!(
            "It wasn't answered with the secret: {slug} isn't set to a provider, and anyone can send such a request."
        ),
        fix: format!(
            "Set the provider with `hookmitt source edit {slug} --provider ID`, then let the provider send \
                      the request again."
        ),
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_clock::{Clock as _, HandClock};
    use hookmitt_inbox::SourceSettings;

    use super::*;
    use crate::begun::{engine_by, post};

    #[tokio::test(flavor = "multi_thread")]
    async fn threat_11_a_clock_that_is_set_back_lengthens_no_offer() {
        let folder = tempfile::tempdir().unwrap();
        let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
        let engine = engine_by(folder.path(), Arc::new(clock.clone())).await;
        let slug: Slug = "asana".parse().unwrap();
        let provider = Some("asana".to_owned());
        let settings = SourceSettings { provider, ..SourceSettings::default() };
        engine.base.inbox.add_source(slug.clone(), settings, false, clock.now()).await.unwrap();
        engine.settings.reload().await.unwrap();
        let known = engine.settings.source(&slug).unwrap();
        let mut arrival = post([("X-Hook-Secret", "b537207f20cbfa02357cf448134da559")], b"{}");
        arrival.received_at = clock.now();
        let id = engine.capture.store_unanswered(&known, known.judge(arrival).event).await.unwrap().id;
        let next =
            async || engine.delivered_secrets.next(&engine.base.inbox.event(id).await.unwrap(), clock.now());
        assert_eq!(next().await.offer, Some(HandshakeOffer::SaveSecret));

        clock.pass(OFFERED_FOR + Duration::from_secs(1));
        clock.step(-2 * 60_000_000); // so that the clock shows eight minutes
        let next = next().await;
        assert_eq!((next.offer, next.note.unwrap().code), (None, "offer_over".to_owned()));
        assert!(engine.delivered_secrets.save(id, None).await.is_err());
        engine.stop().await;
    }
}
