//! Sees to it that there is a certificate: asks for the first, and for the next in time.

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

/// How long an order may take altogether.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How long we sleep at most before we look at the clock again: it may be set meanwhile.
const NAP: Duration = Duration::from_secs(60 * 60);

/// Who asks in time, and what comes of it.
#[derive(Debug)]
pub(crate) struct Desk {
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Desk {
    /// Shows the certificate that was kept, where it will do.
    pub(crate) fn open(acme: Acme, certificates: Arc<Certificates>) -> Result<Self, AcmeError> {
        let names = names(&acme.names)?;
        let directory = directory(&acme.directory)?;
        let http = Http::new(acme.authorities.as_deref())?;
        let folder = Folder::open(&acme.folder, &directory)?;
        let kept = folder.certificate().unwrap_or_else(|error| {
            tracing::warn!(%error, "the certificate that was kept can't be read; another is asked for");
            None
        });
        if let Some(held) = kept.filter(|held| held.is_good(acme.clock.now()) && held.is_for(&names)) {
            certificates.show(held);
        }
        let client = Client { names, email: acme.email, directory, folder, http, certificates };
        Ok(Self { client, clock: acme.clock })
    }

    /// Asks whenever it is time, until `stop`.
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

    /// How long the certificate will do without another being asked for.
    fn rest(&self) -> Option<Duration> {
        let rest = self.client.certificates.current()?.due().since(self.clock.now());
        Some(rest).filter(|rest| !rest.is_zero())
    }

    async fn ask(&self) -> Result<(), OrderError> {
        tracing::info!(names = self.client.names.join(" "), directory = %self.client.directory, "asking for a certificate");
        let pem = timeout(PATIENCE, self.client.order()).await.unwrap_or(Err(OrderError::Slow))?;
        let held = folder::parse(pem.as_bytes()).map_err(OrderError::Useless)?;
        self.use_now(held, &pem)
    }

    /// Shows it, then keeps it: senders need it more than the next start does.
    fn use_now(&self, held: Held, pem: &str) -> Result<(), OrderError> {
        let now = self.clock.now();
        if !held.is_good(now) || !held.is_for(&self.client.names) {
            return Err(OrderError::Useless("it is for another time or other names".to_owned()));
        }
        let (until, short) = (held.until, held.due() <= now);
        self.client.certificates.show(held);
        tracing::info!(names = self.client.names.join(" "), %until, "there is a new certificate");
        // No reason to ask for another: authorities give only a few of the same.
        if let Err(error) = self.client.folder.keep_certificate(pem) {
            let hint = error.hint().unwrap_or_default();
            tracing::error!(%error, hint, code = error.code(), "the certificate won't be there at the next start");
        }
        // Else the next would be asked for at once, for ever.
        if short { Err(OrderError::Useless("its time is nearly over".to_owned())) } else { Ok(()) }
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
                tracing::error!(%error, hint, code, next_try, "there is no certificate: nobody can connect");
            }
        }
    }
}
