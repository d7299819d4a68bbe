//! Makes sure that there is a certificate: orders the first one, and each next one in time.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::Clock;
use hookmitt_event::Explain as _;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Acme, AcmeError, directory,
    failure::OrderError,
    folder::{self, Folder},
    http::Http,
    names,
    order::Client,
};
use crate::certificates::{Certificates, Held};

/// How long a whole order may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The longest sleep before the clock is checked again, because the clock may be set meanwhile.
const NAP: Duration = Duration::from_secs(60 * 60);

/// Orders certificates when they are due, and shows them.
#[derive(Debug)]
pub(crate) struct Desk {
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Desk {
    /// Opens the folder, and shows the stored certificate if it is valid and for the right names.
    pub(crate) fn open(acme: Acme, certificates: Arc<Certificates>) -> Result<Self, AcmeError> {
        let names = names(&acme.names)?;
        let directory = directory(&acme.directory)?;
        let http = Http::new(acme.authorities.as_deref())?;
        let folder = Folder::open(&acme.folder, &directory)?;
        let kept = folder.certificate().unwrap_or_else(|error| {
            tracing::warn!(%error, "the stored certificate can't be read; requesting another one");
            None
        });
        if let Some(held) = kept.filter(|held| held.is_good(acme.clock.now()) && held.is_for(&names)) {
            certificates.show(held);
        }
        let client = Client { names, email: acme.email, directory, folder, http, certificates };
        Ok(Self { client, clock: acme.clock })
    }

    /// Orders a certificate whenever one is due, until `stop`.
    pub(crate) async fn keep_asking(&self, stop: CancellationToken) {
        let mut failures = 0;
        loop {
            let pause = match self.rest().filter(|_| failures == 0) {
                Some(rest) => rest.min(NAP),
                None => match stop.run_until_cancelled(Box::pin(self.ask())).await {
                    None => return,
                    Some(Ok(())) => {
                        failures = 0;
                        continue;
                    }
                    Some(Err(error)) => {
                        let pause = error.pause(failures);
                        failures += 1;
                        self.complain(&error, pause);
                        pause
                    }
                },
            };
            if stop.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    /// Returns how long no new certificate is needed, or `None` if one is due now.
    fn rest(&self) -> Option<Duration> {
        let rest = self.client.certificates.current()?.due().since(self.clock.now());
        Some(rest).filter(|rest| !rest.is_zero())
    }

    async fn ask(&self) -> Result<(), OrderError> {
        tracing::info!(names = self.client.names.join(" "), directory = %self.client.directory, "requesting a \
                                                                                                 certificate");
        let pem = timeout(PATIENCE, self.client.order()).await.unwrap_or(Err(OrderError::Slow))?;
        let held = folder::parse(pem.as_bytes()).map_err(OrderError::Useless)?;
        self.use_now(held, &pem)
    }

    /// Shows a certificate and then stores it, because senders need it more than the next start does.
    fn use_now(&self, held: Held, pem: &str) -> Result<(), OrderError> {
        let now = self.clock.now();
        if !held.is_good(now) || !held.is_for(&self.client.names) {
            return Err(OrderError::Useless("it has expired or is for other names".to_owned()));
        }
        let (until, short) = (held.until, held.due() <= now);
        self.client.certificates.show(held);
        tracing::info!(names = self.client.names.join(" "), %until, "a new certificate is in use");
        // A failure to store it is no reason to order another: authorities issue only a few for the same names.
        if let Err(error) = self.client.folder.keep_certificate(pem) {
            let hint = error.hint().unwrap_or_default();
            tracing::error!(%error, hint, code = error.code(), "the certificate could not be stored and will be \
                                                                missing at the next start");
        }
        // An error, because otherwise the next certificate would be ordered at once, again and again.
        if short { Err(OrderError::Useless("it expires soon".to_owned())) } else { Ok(()) }
    }

    fn complain(&self, error: &OrderError, pause: Duration) {
        let hint = error.hint().unwrap_or_default();
        let (code, next_try) = (error.code(), format!("in {} s", pause.as_secs()));
        match self.client.certificates.current().filter(|held| held.is_good(self.clock.now())) {
            Some(held) => {
                let until = held.until;
                tracing::error!(%error, hint, code, next_try, %until, "the certificate could not be renewed");
            }
            None => {
                tracing::error!(%error, hint, code, next_try, "there is no certificate, so nobody can connect");
            }
        }
    }
}
