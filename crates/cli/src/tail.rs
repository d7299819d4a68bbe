//! Formats the event stream as lines for people.

use std::collections::{HashMap, HashSet};

use hookmitt_api::EventJson;
use hookmitt_event::{DeliveryId, DeliveryState, EventStatus, Plain, TargetId, Timestamp, Verdict, counted};
use jiff::tz::TimeZone;

use crate::{
    event_words::{outcome, request_path, subject},
    live::{DeliveryNews, GapNews, News, RefusedNews},
    shown,
    terminal::{BAD, FAINT, GOOD, ODD, STRONG, Styled},
    tunnel_view::{self, Tunnel},
};

/// Turns messages of the stream into lines. Remembers what was shown, and which targets are down.
pub(crate) struct Tail {
    zone: TimeZone,
    /// The highest number of the events that were shown, or that were there before the tail began.
    seen: i64,
    /// For each unfinished delivery, how many of its attempts were shown.
    attempts: HashMap<DeliveryId, usize>,
    down: HashMap<TargetId, Down>,
    /// The targets of which it was said that they reject genuine events.
    rejecting: HashSet<TargetId>,
    /// What was shown last of each tunnel.
    tunnels: HashMap<i64, SeenTunnel>,
}

/// A target whose server does not answer.
struct Down {
    since: Timestamp,
    waiting: HashSet<DeliveryId>,
}

/// What is shown of a tunnel.
#[derive(PartialEq, Eq)]
struct SeenTunnel {
    state: String,
    url: Option<String>,
}

impl Tail {
    /// Makes a tail that shows the events with numbers above `seen`. Times are shown in this zone.
    pub(crate) fn new(zone: TimeZone, seen: i64) -> Self {
        Self {
            zone,
            seen,
            attempts: HashMap::new(),
            down: HashMap::new(),
            rejecting: HashSet::new(),
            tunnels: HashMap::new(),
        }
    }

    /// Returns the line for a message, or `None` if the message says nothing new to a person.
    pub(crate) fn line(&mut self, news: &News, now: Timestamp) -> Option<String> {
        match news {
            News::Event(event) => self.event(event),
            News::Delivery(news) => self.delivery(news, now),
            News::Refused(refused) => Some(self.refused(refused)),
            News::Skipped(skipped) => {
                Some(Styled(FAINT, format!("… {} …", counted(skipped.events, "more event"))).to_string())
            }
            News::Tunnel(tunnel) => self.tunnel(tunnel, now),
            News::Gap(news) => Some(self.gap(news, now)),
            News::Listening(_) | News::Other => None,
        }
    }

    /// Returns the line for a tunnel whose state or URL differs from what was shown last. The state `connecting` is
    /// not shown, so that repeated attempts to connect make no lines.
    fn tunnel(&mut self, tunnel: &Tunnel, now: Timestamp) -> Option<String> {
        let seen = SeenTunnel { state: tunnel.state.clone(), url: tunnel.public_url.clone() };
        if tunnel.state == "connecting" || self.tunnels.get(&tunnel.id) == Some(&seen) {
            return None;
        }
        // A program's URL changes whenever it starts.
        let changes = tunnel_view::limits(&tunnel.kind).is_some();
        let url =
            seen.url.as_ref().filter(|_| changes).map_or(String::new(), |url| format!("  {}", Plain(url)));
        self.tunnels.insert(tunnel.id, seen);
        let why = tunnel.error.as_ref().map_or(String::new(), |error| format!("  {}", Plain(&error.message)));
        let state = tunnel_view::state(tunnel, &self.zone);
        Some(format!("{}  {state}{url}{}", self.of_tunnel(&tunnel.label, now), Styled(FAINT, why)))
    }

    fn gap(&self, news: &GapNews, now: Timestamp) -> String {
        format!("{}  {}", self.of_tunnel(&news.label, now), tunnel_view::sentence(&news.gap, &self.zone))
    }

    fn of_tunnel(&self, label: &str, now: Timestamp) -> String {
        let at = Styled(FAINT, shown::clock(now, &self.zone));
        format!("{at}  {}", Styled(STRONG, Plain(label)))
    }

    /// Returns the line for a stored event. An event that only changed (judged again, delivered) gets no second line.
    fn event(&mut self, event: &EventJson) -> Option<String> {
        if event.seq <= self.seen {
            return None;
        }
        self.seen = event.seq;
        let at = Styled(FAINT, shown::clock(event.received_at, &self.zone));
        let number = Styled(STRONG, format!("#{}", event.seq));
        let source = Plain(event.source.as_str());
        let request = format!("{} {}", event.method, request_path(event));
        let what = subject(event);
        let what = if what.ends_with(&Plain(&request).to_string()) && event.r#type.is_none() {
            what // the subject already is the request line
        } else {
            format!("{}  {what}", Plain(&request))
        };
        let line = format!("{at}  {number}  {source}  {what}  {}", shown::verdict(event.verdict));
        match event.status {
            // Deliveries that are skipped when the event is stored send no message of their own.
            EventStatus::Skipped => Some(format!("{line}  {}", Styled(FAINT, "not forwarded"))),
            _ => Some(line),
        }
    }

    fn delivery(&mut self, news: &DeliveryNews, now: Timestamp) -> Option<String> {
        let delivery = &news.delivery;
        let shown = self.attempts.get(&delivery.id).copied().unwrap_or(0);
        let is_tried = delivery.attempts.len() > shown;
        let goes_on = matches!(delivery.status, DeliveryState::Pending | DeliveryState::Processing);
        if goes_on {
            self.attempts.insert(delivery.id, delivery.attempts.len());
        } else {
            self.attempts.remove(&delivery.id);
        }
        if is_tried {
            return Some(self.attempt(news, now));
        }
        match delivery.status {
            DeliveryState::Pending if delivery.last_error.is_some() => self.waits(news, now),
            DeliveryState::Failed | DeliveryState::DeadLetter | DeliveryState::Skipped => {
                Some(self.ended(news, now))
            }
            DeliveryState::Pending | DeliveryState::Processing | DeliveryState::Completed => None,
        }
    }

    fn attempt(&mut self, news: &DeliveryNews, now: Timestamp) -> String {
        let delivery = &news.delivery;
        let back = self.down.get_mut(&delivery.target_id).map(|down| {
            down.waiting.remove(&delivery.id);
            down.waiting.len()
        });
        let mut line = self.lead(news, now);
        if let Some(attempt) = delivery.attempts.last() {
            line = format!("{line}  {}", outcome(attempt));
        }
        match delivery.status {
            DeliveryState::Pending => {
                let next = delivery.next_attempt_at.map(|next| shown::clock(next, &self.zone));
                let next = next.map_or(String::new(), |next| format!(" at {next}"));
                line = format!("{line}  {}", Styled(ODD, format!("tries again{next}")));
            }
            DeliveryState::DeadLetter => line = format!("{line}  {}", Styled(BAD, "gives up")),
            DeliveryState::Processing
            | DeliveryState::Completed
            | DeliveryState::Failed
            | DeliveryState::Skipped => {}
        }
        if news.verdict == Verdict::Valid
            && delivery.is_rejected()
            && self.rejecting.insert(delivery.target_id)
        {
            line = format!("{line}\n{}", Styled(ODD, rejection(news.seq)));
        }
        if let Some(waiting) = back {
            self.down.remove(&delivery.target_id);
            let rest = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
            line = format!("{line}  {}", Styled(GOOD, format!("(it answers again{rest})")));
        }
        line
    }

    /// Returns the line for a delivery that can't be tried because the target's server does not answer. Each delivery
    /// gets one such line while the server is down.
    fn waits(&mut self, news: &DeliveryNews, now: Timestamp) -> Option<String> {
        let delivery = &news.delivery;
        if delivery.next_attempt_at.is_some() && !delivery.attempts.is_empty() {
            return None; // it waits for its next attempt, which was announced in an earlier line
        }
        let down = self.down.entry(delivery.target_id);
        let down = down.or_insert_with(|| Down { since: now, waiting: HashSet::new() });
        if !down.waiting.insert(delivery.id) {
            return None;
        }
        let since = shown::clock(down.since, &self.zone);
        let state = format!("nobody answers since {since}, {} waiting", down.waiting.len());
        let why = delivery.last_error.as_deref().unwrap_or_default();
        Some(format!("{}  {}  {}", self.lead(news, now), Styled(ODD, state), Styled(FAINT, Plain(why))))
    }

    fn ended(&mut self, news: &DeliveryNews, now: Timestamp) -> String {
        if let Some(down) = self.down.get_mut(&news.delivery.target_id) {
            down.waiting.remove(&news.delivery.id);
        }
        let why =
            news.delivery.last_error.as_deref().map_or(String::new(), |why| format!(": {}", Plain(why)));
        let status = Styled(FAINT, format!("{}{why}", news.delivery.status));
        format!("{}  {status}", self.lead(news, now))
    }

    fn lead(&self, news: &DeliveryNews, now: Timestamp) -> String {
        let at = Styled(FAINT, shown::clock(now, &self.zone));
        let kind = news.r#type.as_deref().map_or(String::new(), |kind| format!(" {}", Plain(kind)));
        let about = format!("{}{kind}", Plain(&news.source));
        let number = Styled(STRONG, format!("#{}", news.seq));
        format!("{at}  {number}  {}  -> {}", Styled(FAINT, about), Plain(&news.delivery.target))
    }

    fn refused(&self, refused: &RefusedNews) -> String {
        let at = Styled(FAINT, shown::clock(refused.at, &self.zone));
        let from = refused.remote.as_deref().unwrap_or("someone");
        let target = refused.target.as_deref().unwrap_or("-");
        let what = Styled(BAD, format!("refused {}", refused.status));
        format!("{at}  {what}  {} from {}: {}", Plain(target), Plain(from), Plain(&refused.message))
    }
}

/// Says why a local server may reject a genuine event. Said once for each target, because it is the same every time.
fn rejection(seq: i64) -> String {
    format!(
        "  this event is genuine; your app rejects it: most often its framework changes the body before the check, or it \
         has another secret. `hookmitt show '#{seq}'` shows the fix"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_words::tests::{hostile, is_safe};

    fn now() -> Timestamp {
        "2026-11-21T14:05:59Z".parse().unwrap()
    }

    fn delivery(status: &str, attempts: usize, error: Option<&str>) -> News {
        let attempt = |number: usize| {
            serde_json::json!({
                "number": number, "started_at": "2026-11-21T14:04:00Z", "duration_ms": 12, "response_status": 200,
                "response_headers": [], "response_body": "", "response_truncated": false, "error": null
            })
        };
        let news = serde_json::json!({
            "event_id": "x", "seq": 12, "source": "github", "type": "push\u{1b}[2J", "verdict": "valid",
            "delivery": {
                "id": "0199a5f0-1111-7abc-8def-0123456789ab.1", "target": "http://localhost:3000", "target_id": 1,
                "status": status, "replay": false, "last_error": error, "next_attempt_at": null,
                "completed_at": null, "attempts": (1..=attempts).map(attempt).collect::<Vec<_>>()
            }
        });
        News::Delivery(serde_json::from_value(news).unwrap())
    }

    fn plain(line: Option<String>) -> Option<String> {
        line.map(|line| {
            assert!(is_safe(&line), "{line:?}");
            anstream::adapter::strip_str(&line).to_string()
        })
    }

    #[test]
    fn an_event_gets_one_line() {
        let mut tail = Tail::new(TimeZone::UTC, 11);
        let event = News::Event(Box::new(hostile()));
        let line = plain(tail.line(&event, now())).unwrap();
        let start = r"14:03:59  #12  github  POST /a\u{7}  [dup, stale] push\u{1b}[2J x\u{d}\u{a}#99 forged";
        assert!(line.starts_with(start) && line.ends_with("  invalid"), "{line}");
        assert_eq!(plain(tail.line(&event, now())), None);
    }

    #[test]
    fn a_genuine_event_that_the_app_rejects_is_explained_once_a_target() {
        let mut tail = Tail::new(TimeZone::UTC, 11);
        let rejected = |verdict: &str| {
            let News::Delivery(mut news) = delivery("failed", 1, None) else { panic!("a delivery") };
            news.delivery.attempts[0].response_status = Some(400);
            news.verdict = serde_json::from_value(serde_json::json!(verdict)).unwrap();
            News::Delivery(news)
        };
        assert!(!plain(tail.line(&rejected("no_secret"), now())).unwrap().contains("genuine"));
        let line = plain(tail.line(&rejected("valid"), now())).unwrap();
        assert!(
            line.contains("  400  ") && line.contains("this event is genuine; your app rejects it"),
            "{line}"
        );
        assert!(line.ends_with("`hookmitt show '#12'` shows the fix"), "{line}");
        assert!(!plain(tail.line(&rejected("valid"), now())).unwrap().contains("genuine"), "said once");
    }

    #[test]
    fn a_server_that_is_down_is_said_once_a_delivery_and_its_return_too() {
        let mut tail = Tail::new(TimeZone::UTC, 11);
        assert_eq!(plain(tail.line(&delivery("pending", 0, None), now())), None);
        let down = delivery("pending", 0, Some("connection refused by localhost:3000"));
        let line = plain(tail.line(&down, now())).unwrap();
        assert!(
            line.ends_with("nobody answers since 14:05:59, 1 waiting  connection refused by localhost:3000"),
            "{line}"
        );
        assert_eq!(plain(tail.line(&down, now())), None);
        assert_eq!(plain(tail.line(&delivery("processing", 0, None), now())), None);
        let line = plain(tail.line(&delivery("completed", 1, None), now())).unwrap();
        assert!(line.ends_with("-> http://localhost:3000  200  12 ms  (it answers again)"), "{line}");
    }

    #[test]
    fn a_tunnel_is_said_as_it_changes_and_its_gap_when_it_is_over() {
        let mut tail = Tail::new(TimeZone::UTC, 0);
        let mut say = |state: &str, rtt: u64| {
            let tunnel = serde_json::json!({
                "id": 1, "kind": "relay", "label": "acme\u{1b}[2J", "tunnel": "acme", "relay": "https://relay.test/",
                "source": null, "host": "relay.test", "public_url": null, "state": state,
                "since": "2026-11-21T08:44:00Z", "why": null, "rtt_ms": rtt, "to_acknowledge": 0, "unknown": 0,
                "error": (state != "connected").then(|| serde_json::json!({
                    "code": "relay-unreachable", "message": "nobody answers", "hint": null
                })),
                "waiting": { "letters": 0, "bytes": 0, "oldest_at": null },
                "refused": { "count": 0, "last_at": null }, "spoilt": { "count": 0, "last_at": null }, "gap": null
            });
            plain(tail.line(&News::Tunnel(serde_json::from_value(tunnel).unwrap()), now()))
        };
        let line = say("connected", 38).unwrap();
        assert!(
            line.starts_with(r"14:05:59  acme\u{1b}[2J  connected since ") && line.ends_with(", 38 ms"),
            "{line}"
        );
        assert_eq!(say("connected", 39), None, "a heartbeat is no news");
        let line = say("offline", 0).unwrap();
        assert!(line.contains("offline since ") && line.ends_with("  nobody answers"), "{line}");
        assert_eq!(say("connecting", 0), None);
        assert_eq!(say("offline", 0), None, "it was called again");
        assert!(say("connected", 40).is_some());

        let gap = serde_json::json!({
            "label": "acme", "from": "2026-11-21T02:10:00Z", "until": "2026-11-21T08:44:00Z", "why": "asleep",
            "caught_up": 37, "lost": 0, "id": 7, "tunnel_id": 1
        });
        let line = plain(tail.line(&News::Gap(serde_json::from_value(gap).unwrap()), now())).unwrap();
        assert!(
            line.starts_with("14:05:59  acme  Offline ") && line.ends_with("08:44: 37 caught up, 0 lost."),
            "{line}"
        );
    }

    #[test]
    fn a_skipped_delivery_says_why() {
        let mut tail = Tail::new(TimeZone::UTC, 11);
        let line = plain(tail.line(&delivery("skipped", 0, Some("duplicate of #3")), now())).unwrap();
        assert!(line.ends_with("skipped: duplicate of #3"), "{line}");
    }
}
