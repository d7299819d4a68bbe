//! The certificate that is shown to whoever connects, and the certificates that answer an ACME server's challenges.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use hookmitt_event::Timestamp;
use rustls::{
    CertificateError,
    client::verify_server_name,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
    server::{ClientHello, ParsedCertificate, ResolvesServerCert},
    sign::CertifiedKey,
};
use x509_cert::{Certificate, der::Decode as _, time::Time};

/// The protocol (ALPN) that an ACME server offers when it makes a challenge (RFC 8737).
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";

/// Returns whether the client is an ACME server with a challenge.
pub(crate) fn comes_with_a_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|mut offered| offered.any(|name| name == ACME_TLS))
}

/// A certificate chain with its key, and the time for which it is valid.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) key: Arc<CertifiedKey>,
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
}

impl Held {
    /// Combines a chain and its key.
    pub(crate) fn of(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        let own = chain.first().ok_or(rustls::Error::NoCertificatesPresented)?;
        let unreadable = || rustls::Error::from(CertificateError::BadEncoding);
        let certificate = Certificate::from_der(own).map_err(|_| unreadable())?;
        let validity = certificate.tbs_certificate().validity();
        let at = |time: Time| {
            Timestamp::from_seconds(i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX))
        };
        let (from, until) = (at(validity.not_before), at(validity.not_after));
        let key = Arc::new(CertifiedKey::from_der(chain, key, &ring::default_provider())?);
        Ok(Self { key, from, until })
    }

    /// Returns whether the certificate is for all these names.
    pub(crate) fn is_for(&self, names: &[String]) -> bool {
        let parsed = self.key.cert.first().and_then(|own| ParsedCertificate::try_from(own).ok());
        let is_for = |parsed: &ParsedCertificate<'_>, name: &String| {
            ServerName::try_from(name.as_str()).is_ok_and(|name| verify_server_name(parsed, &name).is_ok())
        };
        parsed.is_some_and(|parsed| names.iter().all(|name| is_for(&parsed, name)))
    }

    /// Returns whether the certificate is valid now.
    pub(crate) fn is_good(&self, now: Timestamp) -> bool {
        self.from <= now && now < self.until
    }

    /// Returns when to get the next certificate: after two thirds of its lifetime, as ACME servers advise.
    pub(crate) fn due(&self) -> Timestamp {
        self.from.after(self.until.since(self.from) * 2 / 3)
    }
}

/// The certificates for TLS handshakes.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    current: RwLock<Option<Held>>,
    answers: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Certificates {
    /// Shows this certificate from now on.
    pub(crate) fn show(&self, held: Held) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    /// Returns the certificate that is shown.
    pub(crate) fn current(&self) -> Option<Held> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers challenges for a name with this certificate while the returned guard lives.
    pub(crate) fn answer(self: &Arc<Self>, name: String, key: CertifiedKey) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(name.clone(), Arc::new(key));
        Answer { certificates: Arc::clone(self), name }
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if comes_with_a_challenge(&hello) {
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            return answers.get(&hello.server_name()?.to_ascii_lowercase()).cloned();
        }
        self.current().map(|held| held.key)
    }
}

/// Keeps an answer to a challenge available until it is dropped.
#[derive(Debug)]
pub(crate) struct Answer {
    certificates: Arc<Certificates>,
    name: String,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.certificates.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn held(names: &[&str]) -> Held {
        let key = KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, 3, 31);
        let made = params.self_signed(&key).unwrap();
        Held::of(vec![made.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap()).unwrap()
    }

    #[test]
    fn the_next_certificate_is_due_when_a_third_of_the_time_is_left() {
        let held = held(&["relay.test"]);
        let day = Duration::from_secs(86_400);
        assert_eq!(held.until.since(held.due()).as_secs(), (89 * day / 3).as_secs());
        assert!(
            held.is_good(held.due()) && !held.is_good(held.until) && !held.is_good(held.from.before(day))
        );
    }

    #[test]
    fn a_certificate_is_for_all_names_or_it_will_not_do() {
        let held = held(&["relay.test", "other.test"]);
        let is_for =
            |names: &[&str]| held.is_for(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(is_for(&["relay.test"]) && is_for(&["Other.test", "relay.test"]));
        assert!(!is_for(&["relay.test", "third.test"]) && !is_for(&["not a name"]));
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let other = KeyPair::generate().unwrap().serialize_der();
        let chain = held(&["relay.test"]).key.cert.clone();
        assert!(Held::of(chain, PrivateKeyDer::try_from(other).unwrap()).is_err());
        let own = KeyPair::generate().unwrap().serialize_der();
        assert!(Held::of(Vec::new(), PrivateKeyDer::try_from(own).unwrap()).is_err());
    }
}
