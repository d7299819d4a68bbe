//! One-time codes for the browser, swapped for a session's token (Threat 1).

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{Json, extract::State, http::StatusCode};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookmitt_event::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{Problem, input::Body, router::Shared, token};

/// How long a code can be swapped.
const CODE_LIVES: Duration = Duration::from_secs(60);

/// How long a session lasts. It ends before with its tab, and with a new API token.
const SESSION_LIVES: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Codes not yet swapped, and what tells a session's token. Codes are gone with the process; a session outlives it, so
/// that an open page goes on after a restart.
pub(crate) struct Sessions {
    /// Where browsers find the page.
    page: Option<SocketAddr>,
    codes: Mutex<HashMap<String, Instant>>,
    /// Signs the tokens, by the API's own.
    signer: Hmac<Sha256>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::of(None, &token::fresh())
    }
}

impl Sessions {
    /// For the page at that address; the sessions hold as long as the API's token stays what it is.
    pub(crate) fn of(page: Option<SocketAddr>, token: &str) -> Self {
        let mut key = hmac(token.as_bytes());
        key.update(b"hookmitt session");
        Self { page, codes: Mutex::default(), signer: hmac(&key.finalize().into_bytes()) }
    }

    /// A URL for the browser, with a code that works once within a minute from `now`; none where there is no page.
    pub(crate) fn open_url(&self, now: Instant) -> Option<String> {
        self.page.map(|page| format!("http://{page}/#code={}", self.code(now)))
    }

    fn code(&self, now: Instant) -> String {
        let code = token::fresh();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|_, made| now.duration_since(*made) < CODE_LIVES);
        codes.insert(code.clone(), now);
        code
    }

    fn swap(&self, code: &str, now: Instant, today: Timestamp) -> Option<String> {
        let made = self.codes.lock().unwrap_or_else(PoisonError::into_inner).remove(code)?;
        if now.duration_since(made) >= CODE_LIVES {
            return None;
        }
        let ends = today.as_micros().saturating_add(micros(SESSION_LIVES));
        let signed = format!("{ends}.{}", token::fresh());
        let mac = hex::encode(self.sign(&signed).finalize().into_bytes());
        Some(format!("{signed}.{mac}"))
    }

    /// Whether that is a session's token: `<end>.<random>.<signature>`.
    pub(crate) fn hold(&self, given: &str, today: Timestamp) -> bool {
        let Some((signed, mac)) = given.rsplit_once('.') else { return false };
        let Ok(mac) = hex::decode(mac) else { return false };
        let ends = signed.split_once('.').and_then(|(ends, _)| ends.parse::<i64>().ok());
        self.sign(signed).verify_slice(&mac).is_ok() && ends.is_some_and(|ends| today.as_micros() < ends)
    }

    fn sign(&self, text: &str) -> Hmac<Sha256> {
        self.signer.clone().chain_update(text)
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sessions").field("page", &self.page).finish_non_exhaustive()
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"))
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// A code from the opened URL's fragment.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Code {
    code: String,
}

/// A session's token, for the `Authorization: Bearer` line.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Token {
    token: String,
}

/// Swaps a one-time code for a session's token. Needs no token itself.
#[utoipa::path(post, operation_id = "open_session", path = "/api/session", request_body = Code, responses((status = 200, body = Token), (status = 401, body = Problem)))]
pub(crate) async fn open(
    State(shared): State<Shared>,
    Body(given): Body<Code>,
) -> Result<Json<Token>, Problem> {
    match shared.sessions.swap(&given.code, Instant::now(), Timestamp::now()) {
        Some(token) => Ok(Json(Token { token })),
        None => Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "bad-code",
            "that code was used already, or is older than a minute",
            "open the page again from hookmitt",
        )),
    }
}

/// Where the browser finds the page.
#[derive(Serialize)]
pub(crate) struct OpenUrl {
    url: String,
}

/// A URL with a fresh one-time code. Never over TCP: there it would turn any token into sessions.
pub(crate) async fn code(State(shared): State<Shared>) -> Result<Json<OpenUrl>, Problem> {
    match shared.sessions.open_url(Instant::now()) {
        Some(url) => Ok(Json(OpenUrl { url })),
        None => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no-page",
            "no hookmitt shows its page to browsers now",
            "`hookmitt serve` does",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_1_a_code_lives_for_a_minute() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (first, second) = (sessions.code(now), sessions.code(now));
        let today = Timestamp::from_seconds(1_800_000_000);
        let token = sessions.swap(&first, now + CODE_LIVES - Duration::from_millis(1), today).unwrap();
        assert!(sessions.hold(&token, today));
        assert_eq!(sessions.swap(&second, now + CODE_LIVES, today), None);
    }

    #[test]
    fn threat_1_a_session_outlives_the_process_but_neither_its_week_nor_the_token() {
        let (now, today) = (Instant::now(), Timestamp::from_seconds(1_800_000_000));
        let before = Sessions::of(None, "one");
        let token = before.swap(&before.code(now), now, today).unwrap();
        let later = |span: Duration| Timestamp::from_micros(today.as_micros() + micros(span));
        let after = Sessions::of(None, "one");
        assert!(after.hold(&token, later(SESSION_LIVES - Duration::from_secs(1))));
        assert!(!after.hold(&token, later(SESSION_LIVES)));
        assert!(!Sessions::of(None, "two").hold(&token, today));
        for forged in [token.replacen('1', "9", 1), format!("9{token}"), "..".to_owned(), String::new()] {
            assert!(!after.hold(&forged, today), "{forged}");
        }
    }
}
