//! Errors in a source's own signature settings.

use hookmitt_event::Explain;

use crate::{content::ContentError, place::PlaceError};

/// Why a generic scheme can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A setting has an unknown value.
    #[error("unknown {setting} {given:?}")]
    Unknown {
        /// The name of the setting.
        setting: &'static str,
        /// The value that was given.
        given: String,
        /// The values that exist, in words.
        known: &'static str,
    },
    /// A name that can't be a header name.
    #[error("{given:?} can't be a header name")]
    Header {
        /// The name of the setting.
        setting: &'static str,
        /// The name that was given.
        given: String,
    },
    /// A place that can't be parsed.
    #[error("{why}")]
    Place {
        /// The name of the setting.
        setting: &'static str,
        /// What is wrong with the place.
        why: PlaceError,
    },
    /// A template with an unknown placeholder.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The signed content doesn't include the body or a value in it.
    #[error("the signed content doesn't contain the body")]
    NoBody,
    /// The algorithm is a plain hash, and the signed content leaves the secret out, so it proves nothing.
    #[error("a plain hash proves nothing unless the signed content contains the secret")]
    NoSecret,
    /// The signed content has a timestamp, but no setting says where it is.
    #[error("the timestamp is signed, but its place isn't set")]
    NoTimestamp,
    /// The signed content has an id, but no setting says where it is.
    #[error("the id is signed, but its place isn't set")]
    NoId,
    /// The format needs the name of the field or tag that carries the signature.
    #[error("the format {0} needs the name of the field or tag that carries the signature")]
    NoVersion(&'static str),
    /// There are settings for a signature, but none says where it is.
    #[error("the signature's place isn't set")]
    NoSignature,
}

impl VerifyError {
    /// Returns the name of the setting that has to be changed or added.
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
            Self::NoBody => "add {body} or a place in it to the signed content, such as {timestamp}.{body}",
            Self::NoSecret => "add {secret} to the signed content, or use hmac-sha256",
            Self::NoTimestamp => {
                "set timestamp_header or timestamp_at, or remove {timestamp} from the signed content"
            }
            Self::NoId => "set id_at, such as header:X-Id, or remove {id} from the signed content",
            Self::NoVersion(_) => "set version, such as v1",
            Self::NoSignature => "set signature_header, such as X-Signature, or signature_at",
        };
        Some(hint.to_owned())
    }
}
