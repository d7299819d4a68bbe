//! One-time codes that the browser exchanges for a session token (Threat 1).

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{Json, extract::State, http::StatusCode};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookmitt_engine::SecretText;
use hookmitt_event::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use zeroize::Zeroizing;

use crate::{Problem, input::Body, token};

/// How long a code is valid.
pub(crate) const CODE_LIVES: Duration = Duration::from_secs(60);

/// The maximum length of a session. It ends earlier if its tab is closed or the API's token changes.
const SESSION_LIVES: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The hash of a code. Only this is kept; it is enough to recognise the code.
pub(crate) type CodeHash = [u8; 32];

/// When a code was made, by both clocks. The code expires by whichever clock is first: the monotonic clock may stand
/// still while the machine sleeps, and the wall clock can be set.
#[derive(Clone, Copy)]
struct Made {
    instant: Instant,
    today: Timestamp,
}

impl Made {
    fn lives(self, now: Instant, today: Timestamp) -> bool {
        now.duration_since(self.instant) < CODE_LIVES
            && today.as_micros().saturating_sub(self.today.as_micros()) < micros(CODE_LIVES)
    }
}

/// The codes that were not used yet, and the key that verifies session tokens. Codes end with the process. Sessions do
/// not, so that an open page goes on working after a restart.
pub(crate) struct Sessions {
    /// The address at which browsers find the page.
    page: Option<SocketAddr>,
    codes: Mutex<HashMap<CodeHash, Made>>,
    /// Notified when a code was used.
    swapped: Notify,
    /// The key that signs session tokens. It is derived from the API's token.
    key: Zeroizing<[u8; 32]>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::of(None, &token::fresh())
    }
}

impl Sessions {
    /// Makes the sessions for the page at this address. Session tokens remain valid as long as the API's token does not
    /// change.
    pub(crate) fn of(page: Option<SocketAddr>, token: &str) -> Self {
        let key = hmac(token.as_bytes()).chain_update(b"hookmitt session").finalize().into_bytes();
        Self { page, codes: Mutex::default(), swapped: Notify::new(), key: Zeroizing::new(key.into()) }
    }

    /// Returns a URL for the browser, with a code that works once within the next minute. `None` if there is no page.
    pub(crate) fn open_url(&self, now: Instant, today: Timestamp) -> Option<OpenUrl> {
        let page = self.page?;
        let code = self.code(now, today);
        Some(OpenUrl { url: format!("http://{page}/#code={code}"), code: hash(&code) })
    }

    /// Waits until the code was used or has expired.
    pub(crate) async fn until_ended(&self, code: &CodeHash) {
        let swapped = async {
            loop {
                let next = self.swapped.notified();
                tokio::pin!(next);
                next.as_mut().enable(); // before the check, so that no use of the code is missed in between
                if !self.codes().contains_key(code) {
                    return;
                }
                next.await;
            }
        };
        let _in_time = tokio::time::timeout(CODE_LIVES, swapped).await;
    }

    fn code(&self, now: Instant, today: Timestamp) -> String {
        let code = token::fresh();
        let mut codes = self.codes();
        codes.retain(|_, made| made.lives(now, today));
        codes.insert(hash(&code), Made { instant: now, today });
        code
    }

    pub(crate) fn swap(&self, code: &str, now: Instant, today: Timestamp) -> Option<String> {
        let made = self.codes().remove(&hash(code))?;
        self.swapped.notify_waiters();
        if !made.lives(now, today) {
            return None;
        }
        let ends = today.as_micros().saturating_add(micros(SESSION_LIVES));
        let signed = format!("{ends}.{}", token::fresh());
        let mac = hex::encode(self.sign(&signed).finalize().into_bytes());
        Some(format!("{signed}.{mac}"))
    }

    fn codes(&self) -> std::sync::MutexGuard<'_, HashMap<CodeHash, Made>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether this is a valid session token, `<end>.<random>.<signature>`.
    pub(crate) fn hold(&self, given: &str, today: Timestamp) -> bool {
        let Some((signed, mac)) = given.rsplit_once('.') else { return false };
        let Ok(mac) = hex::decode(mac) else { return false };
        let ends = signed.split_once('.').and_then(|(ends, _)| ends.parse::<i64>().ok());
        self.sign(signed).verify_slice(&mac).is_ok() && ends.is_some_and(|ends| today.as_micros() < ends)
    }

    fn sign(&self, text: &str) -> Hmac<Sha256> {
        hmac(&*self.key).chain_update(text)
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sessions").field("page", &self.page).finish_non_exhaustive()
    }
}

fn hash(code: &str) -> CodeHash {
    Sha256::digest(code.as_bytes()).into()
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"))
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// The one-time code from the fragment of the opened URL.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Code {
    #[schema(value_type = String)]
    code: SecretText,
}

/// A session token, for the `Authorization: Bearer` line.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Token {
    token: String,
}

/// Exchanges a one-time code for a session token. Needs no token.
#[utoipa::path(post, operation_id = "open_session", path = "/api/session", request_body = Code, responses((status = 200, body = Token), (status = 401, body = Problem)))]
pub(crate) async fn open(
    State(sessions): State<Arc<Sessions>>,
    Body(given): Body<Code>,
) -> Result<Json<Token>, Problem> {
    match sessions.swap(given.code.expose(), Instant::now(), Timestamp::now()) {
        Some(token) => Ok(Json(Token { token })),
        None => Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "bad-code",
            "that code was already used, or is older than a minute",
            "open the page again from hookmitt",
        )),
    }
}

/// The URL that opens the page in a browser.
#[derive(Serialize)]
pub(crate) struct OpenUrl {
    /// The URL with a one-time code.
    pub(crate) url: String,
    /// The hash of that code.
    #[serde(skip)]
    pub(crate) code: CodeHash,
}

/// Returns a URL with a new one-time code. This route is never served over TCP, where any token could be turned into
/// further sessions.
pub(crate) async fn code(State(sessions): State<Arc<Sessions>>) -> Result<Json<OpenUrl>, Problem> {
    match sessions.open_url(Instant::now(), Timestamp::now()) {
        Some(url) => Ok(Json(url)),
        None => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no-page",
            "no running hookmitt serves the page",
            "run `hookmitt serve`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_1_a_code_lives_for_a_minute() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let today = Timestamp::from_seconds(1_800_000_000);
        let (first, second) = (sessions.code(now, today), sessions.code(now, today));
        let token = sessions.swap(&first, now + CODE_LIVES - Duration::from_millis(1), today).unwrap();
        assert!(sessions.hold(&token, today));
        assert_eq!(sessions.swap(&second, now + CODE_LIVES, today), None);
    }

    #[test]
    fn threat_1_a_code_ends_by_whichever_clock_is_first() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let today = Timestamp::from_seconds(1_800_000_000);
        let later = |seconds: i64| Timestamp::from_seconds(1_800_000_000 + seconds);
        let code = || sessions.code(now, today);
        assert_eq!(sessions.swap(&code(), now, later(60)), None, "the machine slept meanwhile");
        assert!(sessions.swap(&code(), now, later(59)).is_some());
        assert!(sessions.swap(&code(), now, later(-9_999)).is_some(), "a clock that is set back ends none");
        assert_eq!(sessions.swap(&code(), now + CODE_LIVES, later(-9_999)), None, "nor does it keep one");
    }

    #[test]
    fn threat_1_a_session_outlives_the_process_but_neither_its_week_nor_the_token() {
        let (now, today) = (Instant::now(), Timestamp::from_seconds(1_800_000_000));
        let before = Sessions::of(None, "one");
        let token = before.swap(&before.code(now, today), now, today).unwrap();
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
