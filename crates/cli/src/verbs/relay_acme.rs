//! `hookmitt relay --acme`: the relay gets its own certificate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_clock::MachineClock;
use hookmitt_relay::{Acme, AcmeError, PublicUrl, Tls};

use crate::failure::CliError;

/// From whom a certificate is had, and for what.
#[derive(Debug, clap::Args)]
pub(super) struct AcmeFlags {
    /// Get and renew a certificate for the host of --public-url from Let's Encrypt; this accepts its terms of service
    #[arg(long, requires = "public_url", conflicts_with = "tls_cert")]
    acme: bool,
    /// An additional name for the certificate; repeatable
    #[arg(long, value_name = "NAME", requires = "acme")]
    acme_domain: Vec<String>,
    /// The address to which the authority may write about the certificate
    #[arg(long, value_name = "ADDRESS", requires = "acme")]
    acme_email: Option<String>,
    /// Use another ACME server than Let's Encrypt: the https URL of its directory
    #[arg(long, value_name = "URL", requires = "acme")]
    acme_directory: Option<String>,
    /// Use Let's Encrypt's staging server: its limits are high, and its certificates aren't trusted
    #[arg(long, requires = "acme", conflicts_with = "acme_directory")]
    acme_staging: bool,
    /// The root certificate of a private ACME server, as PEM
    #[arg(long, value_name = "FILE", requires = "acme")]
    acme_ca: Option<PathBuf>,
}

impl AcmeFlags {
    /// Returns a hint for a store that other relays may share, if `--acme` was given: it works for a single relay only.
    pub(super) fn beside_others(&self) -> Option<&'static str> {
        let hint = "  hint     --acme works for a single relay only: with several behind one name, the authority \
                    may reach any of them";
        self.acme.then_some(hint)
    }

    /// Sets up TLS with a certificate from an ACME server, if that was asked for.
    pub(super) fn tls(
        &self,
        public: Option<&PublicUrl>,
        wildcard: bool,
        data_dir: &Path,
    ) -> Result<Option<Tls>, CliError> {
        let Some(public) = public.filter(|_| self.acme) else { return Ok(None) };
        if public.scheme() != "https" {
            let message = "--acme is for a relay with an https:// public URL";
            let hint = format!("--public-url https://{}", public.host());
            return Err(CliError::bad_input_with("acme-needs-https", message, hint));
        }
        if wildcard {
            return Err(CliError::explained(&AcmeError::Wildcard(public.host().to_owned())));
        }
        let lets_encrypt = || Acme::lets_encrypt(self.acme_staging).to_owned();
        let acme = Acme {
            names: std::iter::once(public.host().to_owned())
                .chain(self.acme_domain.iter().cloned())
                .collect(),
            email: self.acme_email.clone(),
            directory: self.acme_directory.clone().unwrap_or_else(lets_encrypt),
            authorities: self.acme_ca.clone(),
            folder: data_dir.join("acme"),
            clock: Arc::new(MachineClock),
        };
        Tls::by_acme(acme).map(Some).map_err(|error| CliError::explained(&error))
    }
}
