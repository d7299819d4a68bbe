//! Decides whether an event is genuine, and explains why not.
//!
//! The crate is pure: it does no I/O and reads no clock. Providers are data (`providers/`); schemes are code. The
//! pipeline is [`recognise`] → [`judge`] and [`facts`]; [`sign`] and [`sample`] go the other way and make requests.
//!
//! A module uses only modules listed above it. From the bottom layer up:
//!
//! - reading a request: `form`, `xml`, `pluck`, `json_edit`, `json_duplicates`, `request_view`, `place`, `lookup`
//! - what an event is about: `plain`, `money`, `template`, `subject`, `fact_plan`
//! - tools: `algorithm`, `mac`, `key_url`, `challenge`, `public_key`, `published`
//! - a scheme as data: `content`, `special`, `algorithm_name`, `uncovered`, `jwt`, `scheme`, `generic_error`, `generic`
//! - secrets: `secret_bytes`, `key_bytes`, `test_pair`, `secret`
//! - providers: `fresh`, `provider`, `catalogue`, `recognise`, `facts`, `sample`, `test_secret`
//! - a verdict: `signature`, `inquiry`, `candidates`, `cause`, `jwt_scheme`, `check`, `timestamp`, `key_source`,
//!   `judgement`, `downgrade`, `judge`
//! - explanations: `evidence`, `fixes`, `explain`
//! - making requests and answers: `sign_error`, `sign_jwt`, `sign`, `answer_text`, `handshake`

mod algorithm;
mod algorithm_name;
mod answer_text;
mod candidates;
mod catalogue;
mod cause;
mod challenge;
mod check;
mod content;
mod downgrade;
mod evidence;
mod explain;
mod fact_plan;
mod facts;
mod fixes;
mod form;
mod fresh;
mod generic;
mod generic_error;
mod handshake;
mod inquiry;
mod json_duplicates;
mod json_edit;
mod judge;
mod judgement;
mod jwt;
mod jwt_scheme;
mod key_bytes;
mod key_source;
mod key_url;
mod lookup;
mod mac;
mod money;
mod place;
mod plain;
mod pluck;
mod provider;
mod public_key;
mod published;
mod recognise;
mod request_view;
mod rsa_key;
mod sample;
mod scheme;
mod secret;
mod secret_bytes;
mod sign;
mod sign_error;
mod sign_jwt;
mod signature;
mod special;
mod spoilt;
mod subject;
mod template;
mod test_pair;
mod test_secret;
mod timestamp;
mod uncovered;
mod xml;

pub use algorithm::Algorithm;
pub use catalogue::{key_hosts, provider, providers};
pub use content::ContentError;
pub use evidence::{Evidence, evidence, uncovered};
pub use explain::{Context, explain};
pub use facts::{facts, moment};
pub use fixes::raw_body_fix;
pub use generic::validate_generic;
pub use generic_error::VerifyError;
pub use handshake::{Handshake, HandshakeOutcome, HandshakeReply, confirm_url, handshake};
pub use inquiry::Inquiry;
pub use judge::judge;
pub use judgement::Judgement;
pub use key_url::{UntrustedUrl, allowed};
pub use place::PlaceError;
pub use provider::{Confidence, Param, Provider, RetryFacts};
pub use public_key::{CertificateFacts, PublicForm, PublicKey, PublicKeyError, Signing, parse_public_key};
pub use published::{Published, PublishedKeys, WantedKey};
pub use recognise::{recognise, recognise_by_headers};
pub use sample::{SampleError, sample, sample_types};
pub use scheme::Scheme;
pub use secret::Secret;
pub use secret_bytes::SecretBytes;
pub use sign::{SignBy, sign, still_signed};
pub use sign_error::SignError;
pub use spoilt::fits_no_more;
pub use test_pair::{PairKind, TestKeyPair, TestKeyPairError};
pub use test_secret::{TestSecret, test_secret};
