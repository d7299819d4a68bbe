//! What leaves in files: no signature that a secret of the owner's made (Threat 11).
//!
//! Captured events leave as they came, as whoever asks for `raw` has been told. What was re-signed here, or sent as a
//! sample, carries a signature of our own making. Under a secret that production uses, too, it would let whoever gets
//! the file play a request that nobody but the provider can make; so it is made anew with the public test secret.

use hookmitt_event::{Event, Request, SignedWith, Via};
use hookmitt_fixture::Fixture;
use hookmitt_verify::{Provider, SignBy, SignError, provider, providers, sign, still_signed, test_secret};

use crate::{Engine, EngineError, resign::place_of};

impl Engine {
    /// An event as a file may hold it.
    pub(crate) fn shareable(&self, event: &Event) -> Result<Fixture, EngineError> {
        let mut fixture = Fixture::from_event(event);
        let made_here = matches!(event.via, Via::Send | Via::Edit);
        match &event.signed_with {
            Some(SignedWith::Nothing) => {}
            Some(SignedWith::Test(name)) => fixture.test_secret = Some(name.clone()),
            // Of what an earlier version made it isn't known who signed it.
            None if !made_here => {}
            None | Some(SignedWith::Own(_)) => {
                if let Some((request, name)) = self.signed_with_test_secret(event)? {
                    fixture.request = request;
                    fixture.test_secret = Some(name);
                }
            }
        }
        Ok(fixture)
    }

    /// The request with signatures of the public test secret in the place of those that it has, as of the time when it
    /// was received; and the secret's name. None where there is nothing to sign.
    fn signed_with_test_secret(&self, event: &Event) -> Result<Option<(Request, String)>, EngineError> {
        let refuse = |why: String| EngineError::OwnSignature { seq: event.seq, why };
        let known = self.known(&event.source)?;
        let generic = known.source.generic.as_ref();
        let generic = match &event.signed_with {
            Some(SignedWith::Own(None)) => None,
            Some(SignedWith::Own(Some(place))) if generic.and_then(place_of).as_ref() != Some(place) => {
                return Err(refuse("its source's own scheme has changed since".to_owned()));
            }
            _ => generic.filter(|generic| place_of(generic).is_some()),
        };
        let named: Option<&'static Provider> = event.provider.as_deref().and_then(provider);
        let own = named.or_else(|| known.provider_of(&event.request));
        let Some(by) = own.or_else(|| generic.and_then(|_| providers().next())) else {
            // Without a provider nothing can have been signed here.
            let unsigned = event.signed_with.is_none();
            return if unsigned {
                Ok(None)
            } else {
                Err(refuse("its provider isn't known any more".to_owned()))
            };
        };
        let test = test_secret(by);
        let secret = test.value.as_bytes();
        let order = SignBy {
            generic,
            url: Some(&event.url),
            params: &known.params,
            ..SignBy::new(by, secret, event.received_at)
        };
        match sign(&order, &event.request) {
            Ok(request) if still_signed(own, &event.request, &request) => {
                Err(refuse("a second signature of it can't be".to_owned()))
            }
            Ok(request) => Ok(Some((request, test.name.to_owned()))),
            Err(SignError::SignsNothing(_)) if event.signed_with.is_none() => Ok(None),
            Err(error) => Err(refuse(error.to_string())),
        }
    }
}
