//! Stripe, its list of events, and hookmitt beside it.

use std::sync::{Arc, Mutex};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{ApiAnswer, ApiCall, App, ProviderApi};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "rk_test_4242";
pub(crate) const SECRET: &str = "whsec_dGhpcyBpcyBhIHN0cmlwZSBrZXk";

pub(crate) fn now() -> i64 {
    hookmitt_event::Timestamp::now().as_seconds()
}

/// An event of Stripe's, as its API gives it.
pub(crate) fn invoice(number: i64, ago: i64) -> Value {
    json!({
        "id": format!("evt_{number:05}"), "object": "event", "created": now() - ago, "type": "invoice.paid",
        "data": { "object": { "id": format!("in_{number}"), "object": "invoice", "amount_due": 1200, "currency": "eur" } },
    })
}

/// Lists events as Stripe does: newest first, in pages.
pub(crate) fn stripe_lists(call: &ApiCall, events: &[Value]) -> ApiAnswer {
    if call.header("authorization") != Some(&format!("Bearer {KEY}")) {
        let said = call.header("authorization").unwrap_or_default();
        return ApiAnswer::error(401, &format!("Invalid API Key provided: {said}"));
    }
    let (from, to) =
        (call.number("created[gte]").unwrap_or(0), call.number("created[lt]").unwrap_or(i64::MAX));
    let fits = |event: &&Value| (from..to).contains(&event["created"].as_i64().unwrap());
    let mut all: Vec<_> = events.iter().filter(fits).collect();
    all.sort_by_key(|event| (-event["created"].as_i64().unwrap(), event["id"].to_string()));
    if let Some(after) = call.asks("starting_after") {
        let Some(place) = all.iter().position(|event| event["id"] == after) else {
            return ApiAnswer::error(400, &format!("No such event: '{after}'"));
        };
        all.drain(..=place);
    }
    let limit = usize::try_from(call.number("limit").unwrap_or(10)).unwrap();
    let page = all.iter().take(limit).collect::<Vec<_>>();
    ApiAnswer::json(
        &json!({ "object": "list", "url": "/v1/events", "data": page, "has_more": all.len() > limit }),
    )
}

/// Stripe, with events that may change.
pub(crate) struct Stripe {
    pub(crate) api: ProviderApi,
    pub(crate) events: Arc<Mutex<Vec<Value>>>,
}

impl Stripe {
    pub(crate) fn with(events: Vec<Value>) -> Self {
        let events = Arc::new(Mutex::new(events));
        let listed = Arc::clone(&events);
        let api =
            ProviderApi::start(&["api.stripe.com"], move |call| stripe_lists(call, &listed.lock().unwrap()));
        Self { api, events }
    }

    /// Starts hookmitt with a source that may be synced.
    pub(crate) async fn app(&self) -> App {
        let app = App::start_reaching(self.api.network()).await;
        app.source("stripe", json!({ "provider": "stripe" })).await;
        app.ask("PATCH", "/api/sync/stripe", json!({ "every_s": 0 })).await;
        app.api_key("stripe", KEY).await;
        app
    }
}

pub(crate) trait Syncs {
    async fn api_key(&self, source: &str, key: &str);
    async fn sync(&self, source: &str, request: Value) -> Value;
}

impl Syncs for App {
    async fn api_key(&self, source: &str, key: &str) {
        let body = json!({ "value_base64": STANDARD.encode(key) });
        self.ask("PUT", &format!("/api/sync/{source}/key"), body).await;
    }

    /// Syncs, and returns the report.
    async fn sync(&self, source: &str, request: Value) -> Value {
        let job = self.job(&format!("/api/sync/{source}"), request).await;
        let reports = self.ask("GET", &format!("/api/sync-reports?source={source}"), Value::Null).await;
        let report = reports["items"].as_array().unwrap().iter().find(|report| report["job"] == job["id"]);
        report.cloned().unwrap_or(job)
    }
}

pub(crate) fn counts(report: &Value) -> [i64; 5] {
    ["checked", "here", "added", "missing", "lost"]
        .map(|name| report[name].as_i64().unwrap_or_else(|| panic!("no report: {report}")))
}

/// Sends an event as Stripe's webhook does. Returns the event's id.
pub(crate) async fn webhook(app: &App, event: &Value) -> String {
    let reply = app.stripe("stripe", SECRET, now(), &event.to_string()).await;
    reply.json()["id"].as_str().unwrap().to_owned()
}
