//! Stores account and certificate: in one folder for each ACME server, in files that only their owner may read.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use instant_acme::AccountCredentials;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{AcmeError, failure::OrderError};
use crate::certificates::Held;

/// An account at an ACME server, as it is stored.
#[derive(Deserialize, Serialize)]
pub(super) struct KeptAccount {
    /// The email address that the server was told.
    pub(super) email: Option<String>,
    /// Our identity at the server, with our key.
    pub(super) credentials: AccountCredentials,
}

/// The files of one server.
#[derive(Debug)]
pub(super) struct Folder {
    account: PathBuf,
    certificate: PathBuf,
}

impl Folder {
    /// Opens the folder, creating it if it is missing.
    pub(super) fn open(all: &Path, directory: &Url) -> Result<Self, AcmeError> {
        let folder = all.join(name_of(directory));
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&folder)
            .map_err(|error| AcmeError::Folder { path: folder.clone(), why: error.to_string() })?;
        Ok(Self { account: folder.join("account.json"), certificate: folder.join("certificate.pem") })
    }

    /// Returns the account, if there is one.
    pub(super) fn account(&self) -> Result<Option<KeptAccount>, OrderError> {
        let Some(bytes) = read(&self.account).map_err(|error| self.unkept(&self.account, error))? else {
            return Ok(None);
        };
        let kept = serde_json::from_slice(&bytes);
        // serde_json's message may quote the key, so only the place of the error is reported.
        kept.map(Some).map_err(|error| {
            let place = format!("unexpected content at line {} column {}", error.line(), error.column());
            self.unkept(&self.account, io::Error::new(io::ErrorKind::InvalidData, place))
        })
    }

    /// Stores an account.
    pub(super) fn keep_account(&self, account: &KeptAccount) -> Result<(), OrderError> {
        let bytes = serde_json::to_vec_pretty(account).map_err(io::Error::from);
        bytes
            .and_then(|bytes| write(&self.account, &bytes))
            .map_err(|error| self.unkept(&self.account, error))
    }

    /// Deletes the account.
    pub(super) fn forget_account(&self) -> Result<(), OrderError> {
        fs::remove_file(&self.account).map_err(|error| self.unkept(&self.account, error))
    }

    /// Returns the certificate, if there is one.
    pub(super) fn certificate(&self) -> Result<Option<Held>, AcmeError> {
        let wrong = |why: &dyn std::fmt::Display| AcmeError::Folder {
            path: self.certificate.clone(),
            why: why.to_string(),
        };
        match read(&self.certificate).map_err(|error| wrong(&error))? {
            Some(pem) => parse(&pem).map(Some).map_err(|why| wrong(&why)),
            None => Ok(None),
        }
    }

    /// Stores a certificate with its key.
    pub(super) fn keep_certificate(&self, pem: &str) -> Result<(), OrderError> {
        write(&self.certificate, pem.as_bytes()).map_err(|error| self.unkept(&self.certificate, error))
    }

    fn unkept(&self, path: &Path, error: io::Error) -> OrderError {
        OrderError::Unkept { path: path.to_owned(), error }
    }
}

/// Reads a key and its certificate chain from one PEM text.
pub(super) fn parse(pem: &[u8]) -> Result<Held, String> {
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(|error| error.to_string())?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    Held::of(chain.map_err(|error| error.to_string())?, key).map_err(|error| error.to_string())
}

/// Returns a folder's name for a directory's URL, so that Let's Encrypt's two servers, or two authorities, never mix.
fn name_of(directory: &Url) -> String {
    let text = directory.as_str().trim_start_matches("https://").trim_end_matches('/');
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    text.chars().map(plain).collect()
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file. After a crash at any moment it has either the old content or the new, never a part.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are created so that only their owner may read them.
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    made.write_all(bytes)?;
    made.as_file().sync_all()?;
    made.persist(path)?;
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?; // otherwise the new name might not survive a power cut
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_do_not_share_a_folder_and_files_are_their_owners_alone() {
        let of = |url: &str| name_of(&Url::parse(url).unwrap());
        assert_eq!(of("https://ca.test/acme/../directory/"), "ca.test-directory");
        assert_ne!(of("https://ca.test:8443/dir"), of("https://ca.test/dir"));
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), &Url::parse("https://ca.test/dir").unwrap()).unwrap();
        assert!(folder.account().unwrap().is_none() && folder.certificate().unwrap().is_none());
        folder.keep_certificate("first").unwrap();
        folder.keep_certificate("nonsense").unwrap();
        assert!(folder.certificate().unwrap_err().to_string().contains("certificate.pem"));
        #[cfg(unix)]
        {
            let mode = |path: &Path| {
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
            };
            assert_eq!(mode(&folder.certificate), 0o600);
            assert_eq!(mode(folder.certificate.parent().unwrap()), 0o700);
        }
    }
}
