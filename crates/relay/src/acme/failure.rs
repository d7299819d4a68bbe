//! Why an order failed, and when to try again.

use std::{io, path::PathBuf, time::Duration};

use hookmitt_event::Explain;
use instant_acme::{Error, Problem};

/// The pause after the first failure.
const FIRST: Duration = Duration::from_secs(5);

/// The longest pause; also the pause after a rate limit.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Why an order failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum OrderError {
    #[error("{server} can't be reached: {why}")]
    Unreachable { server: String, why: String },
    #[error("the authority could not verify {name}: {why}")]
    NotOurs { name: String, why: String },
    #[error("the authority offers no TLS-ALPN-01 challenge for {0}")]
    NoChallenge(String),
    #[error("the authority's rate limit is reached: {0}")]
    Limited(String),
    #[error("the authority refused: {0}")]
    Refused(String),
    #[error("the authority no longer knows the account")]
    UnknownAccount,
    #[error("the authority did not finish in time")]
    Slow,
    #[error("the new certificate can't be used: {0}")]
    Useless(String),
    #[error("{}: {error}", path.display())]
    Unkept { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Other(String),
}

impl OrderError {
    /// Converts an error of the ACME library.
    pub(super) fn of(error: Error, server: &str) -> Self {
        match error {
            Error::Api(problem) => Self::of_problem(&problem),
            Error::Timeout(_) => Self::Slow,
            Error::Other(why) => Self::Unreachable { server: server.to_owned(), why: why.to_string() },
            Error::Json(why) => Self::Unreachable {
                server: server.to_owned(),
                why: format!("this isn't an ACME server ({why})"),
            },
            other => Self::Other(other.to_string()),
        }
    }

    fn of_problem(problem: &Problem) -> Self {
        let kind = problem.r#type.as_deref().and_then(|kind| kind.rsplit(':').next()).unwrap_or_default();
        match kind {
            "rateLimited" => Self::Limited(told(problem)),
            "accountDoesNotExist" => Self::UnknownAccount,
            _ => Self::Refused(told(problem)),
        }
    }

    /// Returns how long to wait after `failures` earlier failures in a row. Authorities count failures and allow only a
    /// few an hour.
    pub(super) fn pause(&self, failures: u32) -> Duration {
        match self {
            Self::Limited(_) => LONGEST,
            _ => FIRST.saturating_mul(4_u32.saturating_pow(failures)).min(LONGEST),
        }
    }
}

/// Returns an authority's message in its own words.
pub(super) fn told(problem: &Problem) -> String {
    let mut said = problem.detail.clone().unwrap_or_else(|| problem.to_string());
    for part in problem.subproblems.iter().filter_map(|part| part.detail.as_deref()) {
        said.push_str("; ");
        said.push_str(part);
    }
    said
}

impl Explain for OrderError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "acme-unreachable",
            Self::NotOurs { .. } => "acme-not-ours",
            Self::NoChallenge(_) => "acme-no-challenge",
            Self::Limited(_) => "acme-limited",
            Self::Refused(_) => "acme-refused",
            Self::UnknownAccount => "acme-account",
            Self::Slow => "acme-slow",
            Self::Useless(_) => "acme-useless",
            Self::Unkept { .. } => "acme-folder",
            Self::Other(_) => "acme-failed",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreachable { server, .. } => {
                format!(
                    "this machine must be able to reach {server}; set a private authority's root with --acme-ca"
                )
            }
            Self::NotOurs { name, .. } => format!(
                "{name} must point to this machine (A and AAAA), and its port 443 must reach this relay without \
                 other TLS in between; behind a proxy, let the proxy do TLS, or use files with --tls-cert and \
                 --tls-key"
            ),
            Self::NoChallenge(_) => {
                "get the certificate another way, and use --tls-cert and --tls-key".to_owned()
            }
            Self::Limited(_) => {
                "wait, and use --acme-staging until everything works: its limits are much higher".to_owned()
            }
            Self::Refused(_) => "see its message and its status page".to_owned(),
            Self::UnknownAccount => "a new one is created at the next attempt".to_owned(),
            Self::Slow => "this is retried automatically".to_owned(),
            Self::Useless(_) => "check this machine's clock".to_owned(),
            Self::Unkept { .. } => {
                "the relay's data directory must be writable, and its disk not full".to_owned()
            }
            Self::Other(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: &str) -> OrderError {
        let json = format!(r#"{{"type":"urn:ietf:params:acme:error:{kind}","detail":"d"}}"#);
        OrderError::of(Error::Api(serde_json::from_str(&json).unwrap()), "ca.test")
    }

    #[test]
    fn failures_in_a_row_stay_below_what_authorities_forgive() {
        let mut spent = Duration::ZERO;
        let mut tries = 0;
        for failures in 0.. {
            spent += problem("connection").pause(failures);
            if spent > LONGEST {
                break;
            }
            tries += 1;
        }
        assert_eq!(tries, 5, "in the first hour");
        assert_eq!(problem("connection").pause(1_000), LONGEST);
        assert_eq!(problem("rateLimited").pause(0), LONGEST);
    }

    #[test]
    fn what_an_authority_says_is_passed_on() {
        assert_eq!(problem("malformed").to_string(), "the authority refused: d");
        assert_eq!(
            (problem("rateLimited").code(), problem("accountDoesNotExist").code()),
            ("acme-limited", "acme-account")
        );
        let with_parts = r#"{"detail":"a","subproblems":[{"type":"x","detail":"b"}]}"#;
        assert_eq!(told(&serde_json::from_str(with_parts).unwrap()), "a; b");
    }
}
