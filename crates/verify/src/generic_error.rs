//! What can be wrong with a source's own settings.

use hookmitt_event::Explain;

use crate::{content::ContentError, place::PlaceError};

/// A generic scheme that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A setting with a value that there is none of.
    #[error("unknown {setting} {given:?}")]
    Unknown {
        /// What the setting is called.
        setting: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        known: &'static str,
    },
    /// A name that no header can have.
    #[error("{given:?} can't be a header name")]
    Header {
        /// What the setting is called.
        setting: &'static str,
        /// What was given.
        given: String,
    },
    /// A place that can't be read.
    #[error("{why}")]
    Place {
        /// What the setting is called.
        setting: &'static str,
        /// What is wrong with it.
        why: PlaceError,
    },
    /// A template with an unknown place.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The body is not covered.
    #[error("the signed content leaves the body out")]
    NoBody,
    /// A plain hash over content without the secret proves nothing.
    #[error("a plain hash proves nothing where the signed content leaves the secret out")]
    NoSecret,
    /// The timestamp is signed, and nothing says where it is.
    #[error("the timestamp is signed, but nothing says where it is")]
    NoTimestamp,
    /// The id is signed, and nothing says where it is.
    #[error("the id is signed, but nothing says where it is")]
    NoId,
    /// The field or tag of the signature is not named.
    #[error("the format {0} needs the name of the field or tag that carries the signature")]
    NoVersion(&'static str),
    /// Signing settings without a place for the signature.
    #[error("nothing says where the signature is")]
    NoSignature,
}

impl VerifyError {
    /// The setting that has to be another one, or has to be there.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::Unknown { setting, .. } | Self::Header { setting, .. } | Self::Place { setting, .. } => {
                setting
            }
            Self::Content(_) | Self::NoBody | Self::NoSecret => "signed_content",
            Self::NoTimestamp => "timestamp_header",
            Self::NoId => "id_at",
            Self::NoVersion(_) => "version",
            Self::NoSignature => "signature_header",
        }
    }
}

impl Explain for VerifyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unknown { setting: "algorithm", .. } => "bad-algorithm",
            Self::Unknown { setting: "encoding", .. } => "bad-encoding",
            Self::Unknown { .. } => "bad-scheme-setting",
            Self::Header { .. } => "bad-header-name",
            Self::Place { .. } => "bad-place",
            Self::Content(_) | Self::NoBody | Self::NoSecret => "bad-signed-content",
            Self::NoTimestamp | Self::NoId | Self::NoSignature | Self::NoVersion(_) => "incomplete-scheme",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { known, .. } => return Some(format!("use {known}")),
            Self::Header { .. } => "use letters, digits and hyphens, such as X-Signature",
            Self::Place { .. } | Self::Content(_) => return None,
            Self::NoBody => "put {body} or a place in it into the signed content, such as {timestamp}.{body}",
            Self::NoSecret => "put {secret} into the signed content, or use hmac-sha256",
            Self::NoTimestamp => {
                "set timestamp_header or timestamp_at, or take {timestamp} out of the signed content"
            }
            Self::NoId => "set id_at, such as header:X-Id, or take {id} out of the signed content",
            Self::NoVersion(_) => "set version, such as v1",
            Self::NoSignature => "set signature_header, such as X-Signature, or signature_at",
        };
        Some(hint.to_owned())
    }
}
