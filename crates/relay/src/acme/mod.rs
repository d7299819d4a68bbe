//! A certificate from an ACME server (RFC 8555): ordered, stored, and renewed in time. The relay proves on its own port
//! that the names are its own (TLS-ALPN-01, RFC 8737).

mod challenge;
mod desk;
mod failure;
mod folder;
mod http;
mod order;

use std::{path::PathBuf, sync::Arc};

use hookmitt_clock::Clock;
use hookmitt_event::Explain;
use instant_acme::LetsEncrypt;
use url::{Host, Url};

pub(crate) use desk::Desk;

/// The settings for getting a certificate.
#[derive(Clone, Debug)]
pub struct Acme {
    /// The names that it is for, at least one.
    pub names: Vec<String>,
    /// The address under which the authority can reach a person.
    pub email: Option<String>,
    /// The URL of the ACME server's directory.
    pub directory: String,
    /// A PEM file with certificates that are trusted for that server, in addition to those that browsers trust.
    pub authorities: Option<PathBuf>,
    /// The folder in which account and certificate are stored.
    pub folder: PathBuf,
    /// Tells whether a certificate is valid, and when the next is due.
    pub clock: Arc<dyn Clock>,
}

impl Acme {
    /// Returns Let's Encrypt's directory: the one that browsers trust, or the staging one for tests.
    pub fn lets_encrypt(staging: bool) -> &'static str {
        if staging { LetsEncrypt::Staging.url() } else { LetsEncrypt::Production.url() }
    }
}

/// Why a certificate can't be ordered.
#[derive(Debug, thiserror::Error)]
pub enum AcmeError {
    /// A wildcard name can be proved only by DNS.
    #[error("a certificate for *.{0} can't be obtained here: it needs a DNS-01 challenge")]
    Wildcard(String),
    /// The text is not a host name.
    #[error("there is no certificate for {0}: it isn't a host name")]
    NoName(String),
    /// The directory is not an `https://` URL.
    #[error("{0} is not the https:// URL of an ACME server's directory")]
    Directory(String),
    /// The certificates of a private authority can't be read.
    #[error("{}: {why}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The folder can't be created, or the certificate in it can't be read.
    #[error("{}: {why}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
}

impl Explain for AcmeError {
    fn code(&self) -> &'static str {
        match self {
            Self::Wildcard(_) => "acme-wildcard",
            Self::NoName(_) => "acme-name",
            Self::Directory(_) => "acme-directory",
            Self::Authorities { .. } => "acme-authorities",
            Self::Folder { .. } => "acme-folder",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Wildcard(name) => format!(
                "get the certificate for *.{name} with a program that supports DNS challenges (lego, certbot, \
                 acme.sh), and use its files with --tls-cert and --tls-key; or leave out --wildcard"
            ),
            Self::NoName(_) => {
                "use a host name that points to this machine, such as relay.example.com".to_owned()
            }
            Self::Directory(_) => {
                format!("Let's Encrypt's is {}, which is the default", Acme::lets_encrypt(false))
            }
            Self::Authorities { .. } => "use a PEM file with the authority's root certificate".to_owned(),
            Self::Folder { .. } => {
                "check the permissions of the data directory, or remove the file".to_owned()
            }
        })
    }
}

/// Returns the names in the form that TLS uses, each once.
fn names(given: &[String]) -> Result<Vec<String>, AcmeError> {
    let mut names: Vec<String> = Vec::new();
    for given in given {
        if let Some(domain) = given.strip_prefix("*.") {
            return Err(AcmeError::Wildcard(domain.to_owned()));
        }
        match Host::parse(given) {
            Ok(Host::Domain(name)) if !names.contains(&name) => names.push(name),
            Ok(Host::Domain(_)) => {}
            _ => return Err(AcmeError::NoName(given.clone())),
        }
    }
    if names.is_empty() { Err(AcmeError::NoName("nothing".to_owned())) } else { Ok(names) }
}

fn directory(given: &str) -> Result<Url, AcmeError> {
    let url = Url::parse(given).ok().filter(|url| url.scheme() == "https" && url.has_host());
    url.ok_or_else(|| AcmeError::Directory(given.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_host_names_and_each_is_asked_for_once() {
        let named = |given: &[&str]| {
            names(&given.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
                .map_err(|error| error.code())
        };
        let both = vec!["relay.example.com".to_owned(), "xn--bcher-kva.example".to_owned()];
        assert_eq!(named(&["Relay.example.com", "bücher.example", "relay.example.com"]), Ok(both));
        assert_eq!(named(&["relay.example.com", "*.relay.example.com"]), Err("acme-wildcard"));
        for no_name in ["192.0.2.1", "[2001:db8::1]", "a b", "", "relay.example.com:443"] {
            assert_eq!(named(&[no_name]), Err("acme-name"), "{no_name}");
        }
        assert_eq!(named(&[]), Err("acme-name"));
    }

    #[test]
    fn a_directory_is_reached_by_https_alone() {
        assert!(directory(Acme::lets_encrypt(false)).is_ok() && directory(Acme::lets_encrypt(true)).is_ok());
        for wrong in ["http://ca.example/directory", "ca.example", "https://", "file:///x"] {
            assert!(directory(wrong).is_err(), "{wrong}");
        }
    }
}
