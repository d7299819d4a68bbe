//! Says whether an event is genuine, and why not.
//!
//! Pure: no input, no output, no clock. Providers are data (`providers/`); schemes are code. The pipeline is
//! [`recognise`] → [`judge`] and [`facts`]; [`sign`] and [`sample`] are the way back.

mod answer_text;
mod catalogue;
mod cause;
mod challenge;
mod check;
mod clock;
mod content;
mod evidence;
mod explain;
mod facts;
mod fixes;
mod form;
mod generic;
mod generic_error;
mod handshake;
mod json_edit;
mod judge;
mod jwt;
mod jwt_rules;
mod key_source;
mod key_url;
mod mac;
mod money;
mod place;
mod places;
mod pluck;
mod public_key;
mod published;
mod recognise;
mod sample;
mod scheme;
mod secret;
mod sign;
mod sign_token;
mod signature;
mod sns;
mod special;
mod test_pair;
mod token;
mod view;
mod xml;

pub use catalogue::{Confidence, Param, Provider, RetryFacts, key_hosts, provider, providers};
pub use content::ContentError;
pub use evidence::{Evidence, evidence};
pub use explain::{Context, explain};
pub use facts::facts;
pub use generic::validate_generic;
pub use generic_error::VerifyError;
pub use handshake::{Handshake, HandshakeReply, confirm_url, handshake};
pub use judge::{Inquiry, Judgement, judge};
pub use key_source::WantedKey;
pub use key_url::{UntrustedUrl, allowed};
pub use place::PlaceError;
pub use public_key::{CertificateFacts, PublicForm, PublicKey, PublicKeyError, Signing, parse_public_key};
pub use published::{Published, PublishedKeys};
pub use recognise::recognise;
pub use sample::{SampleError, TestSecret, sample, sample_types, test_secret};
pub use scheme::{Algorithm, Scheme};
pub use secret::{Secret, SecretBytes};
pub use sign::{SignBy, SignError, sign};
pub use test_pair::{PairKind, TestKeyPair, TestKeyPairError};
