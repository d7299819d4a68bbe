//! Services that send Standard Webhooks or much the same: Svix, Resend, Polar, WorkOS, Paddle, Mux.

use hookmitt_stories::ApiAnswer;
use serde_json::{Value, json};

use super::{Shape, Thing, Webhook, after, all, page, plain, seconds, within};

fn signed_id(name: &'static str, id: String, body: &Value) -> Webhook {
    (vec![("Content-Type", "application/json".to_owned()), (name, id)], body.to_string())
}

fn svix(thing: Thing) -> Value {
    json!({ "type": "user.created", "timestamp": thing.rfc3339(), "data": { "id": thing.id("user_") } })
}

fn resend(thing: Thing) -> Value {
    json!({ "type": "email.sent", "created_at": thing.rfc3339(), "data": { "email_id": thing.id("em_"), "to": ["a@example.com"] } })
}

fn polar(thing: Thing) -> Value {
    json!({ "type": "order.created", "timestamp": thing.rfc3339(), "data": { "id": thing.id("order_") } })
}

fn workos(thing: Thing) -> Value {
    json!({ "object": "event", "id": thing.id("event_"), "event": "user.created", "created_at": thing.rfc3339(),
        "data": { "object": "user", "id": thing.id("user_") } })
}

fn paddle(thing: Thing) -> Value {
    json!({ "event_id": thing.id("evt_"), "event_type": "customer.updated", "occurred_at": thing.rfc3339(),
        "notification_id": thing.id("ntf_"), "data": { "id": thing.id("ctm_"), "name": null, "email": "a@example.com", "marketing_consent": false, "status": "active",
            "custom_data": null, "locale": "en", "created_at": thing.rfc3339(), "updated_at": thing.rfc3339(), "import_meta": null } })
}

fn mux(thing: Thing) -> Value {
    json!({ "id": thing.id("asset_"), "status": "ready", "created_at": thing.at.as_seconds().to_string(), "duration": 23.8 })
}

const APP: &str = "/api/v1/app/app_1/endpoint/ep_1";

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            id: "svix",
            host: "api.eu.svix.com",
            params: &[("region", "eu"), ("app", "app_1"), ("endpoint", "ep_1")],
            key: "testsk_1.eu",
            proof: ("authorization", "Bearer testsk_1.eu"),
            things: 5,
            says: |call, things| {
                if call.path == APP {
                    return Some(ApiAnswer::json(&json!({ "id": "ep_1", "url": "https://x.example" })));
                }
                if call.path != format!("{APP}/msg") {
                    return None;
                }
                let found = within(things, seconds(call.asks("after")), seconds(call.asks("before")));
                let (page, more) = after(&found, call.asks("iterator"), 2, |thing| thing.id("msg_"));
                let data = all(page, |thing| {
                    json!({ "id": thing.id("msg_"), "eventType": "user.created", "eventId": null, "channels": null,
                        "timestamp": thing.rfc3339(), "payload": svix(thing), "status": 0, "statusText": "success",
                        "nextAttempt": null, "tags": null })
                });
                let last = page.last().map(|thing| thing.id("msg_"));
                Some(ApiAnswer::json(
                    &json!({ "data": data, "iterator": last, "prevIterator": null, "done": !more }),
                ))
            },
            webhook: |thing| signed_id("svix-id", thing.id("msg_"), &svix(thing)),
        },
        Shape {
            id: "resend",
            host: "api.resend.com",
            params: &[("webhook", "wh-1")],
            key: "re_1",
            proof: ("authorization", "Bearer re_1"),
            things: 5,
            says: |call, things| {
                let found = within(things, None, None);
                let of = |thing: Thing, more: bool| {
                    let mut item = json!({ "object": "webhook_event", "id": thing.id("msg_"), "type": "email.sent", "created_at": thing.rfc3339() });
                    if more {
                        item["payload"] = resend(thing);
                    }
                    item
                };
                match call.path.strip_prefix("/webhooks/wh-1") {
                    Some("") => Some(ApiAnswer::json(&json!({ "id": "wh-1" }))),
                    Some("/events") => {
                        let (page, more) = after(&found, call.asks("after"), 2, |thing| thing.id("msg_"));
                        let data = all(page, |thing| of(thing, false));
                        Some(ApiAnswer::json(&json!({ "object": "list", "data": data, "has_more": more })))
                    }
                    Some(one) => {
                        let id = one.strip_prefix("/events/")?;
                        let thing = found.iter().find(|thing| thing.id("msg_") == id)?;
                        Some(ApiAnswer::json(&of(*thing, true)))
                    }
                    None => None,
                }
            },
            webhook: |thing| signed_id("svix-id", thing.id("msg_"), &resend(thing)),
        },
        Shape {
            id: "polar",
            host: "api.polar.sh",
            params: &[("endpoint", "ep-1")],
            key: "polar_oat_1",
            proof: ("authorization", "Bearer polar_oat_1"),
            things: 5,
            says: |call, things| {
                if call.path == "/v1/webhooks/endpoints/ep-1" {
                    return Some(ApiAnswer::json(&json!({ "id": "ep-1" })));
                }
                if call.path != "/v1/webhooks/deliveries" {
                    return None;
                }
                let (from, to) = (call.asks("start_timestamp"), call.asks("end_timestamp"));
                let found = within(things, seconds(from), seconds(to));
                let number = usize::try_from(call.number("page").unwrap_or(1) - 1).ok()?;
                let items = all(page(&found, number, 2), |thing| {
                    json!({ "id": thing.id("dlv_"), "created_at": thing.rfc3339(), "modified_at": null, "succeeded": true, "http_code": 200,
                        "response": null, "webhook_event": { "id": thing.id("whe_"), "created_at": thing.rfc3339(), "modified_at": null,
                            "last_http_code": 200, "succeeded": true, "skipped": false, "api_version": "2026-10", "type": "order.created", "is_archived": false,
                            "payload": polar(thing).to_string() } })
                });
                let pages = found.len().div_ceil(2);
                Some(ApiAnswer::json(
                    &json!({ "items": items, "pagination": { "total_count": found.len(), "max_page": pages } }),
                ))
            },
            webhook: |thing| signed_id("webhook-id", thing.id("whe_"), &polar(thing)),
        },
        Shape {
            id: "workos",
            host: "api.workos.com",
            params: &[("events", "user.created,user.updated")],
            key: "sk_test_1",
            proof: ("authorization", "Bearer sk_test_1"),
            things: 5,
            says: |call, things| {
                if call.path != "/events" {
                    return None;
                }
                let refused = || Some(ApiAnswer::error(422, "range_start and after exclude each other"));
                if call.asks("events").is_none()
                    && call.asks("events[]").is_none()
                    && call.asks("events[0]").is_none()
                {
                    return Some(ApiAnswer::error(422, "events is required"));
                }
                if call.asks("range_start").is_some() && call.asks("after").is_some() {
                    return refused();
                }
                let mut found = within(things, seconds(call.asks("range_start")), None);
                found.reverse();
                let (page, more) = after(&found, call.asks("after"), 2, |thing| thing.id("event_"));
                let next = page.last().filter(|_| more).map(|thing| thing.id("event_"));
                let list = json!({ "object": "list", "data": all(page, workos), "list_metadata": { "after": next } });
                Some(ApiAnswer::json(&list))
            },
            webhook: |thing| plain(&workos(thing)),
        },
        Shape {
            id: "paddle",
            host: "api.paddle.com",
            params: &[("destination", "ntfset_1")],
            key: "pdl_live_1",
            proof: ("authorization", "Bearer pdl_live_1"),
            things: 5,
            says: |call, things| {
                if call.path != "/notifications" {
                    return None;
                }
                let found = within(things, seconds(call.asks("from")), seconds(call.asks("to")));
                let (page, more) = after(&found, call.asks("after"), 2, |thing| thing.id("ntf_"));
                let data = all(page, |thing| {
                    json!({ "id": thing.id("ntf_"), "type": "customer.updated", "status": "delivered", "payload": paddle(thing),
                        "occurred_at": thing.rfc3339(), "delivered_at": null, "replayed_at": null, "origin": "event",
                        "last_attempt_at": null, "retry_at": null, "times_attempted": 1, "notification_setting_id": "ntfset_1" })
                });
                let next = format!(
                    "{}/notifications?after={}",
                    call.base,
                    page.last().map_or_else(String::new, |last| last.id("ntf_"))
                );
                Some(ApiAnswer::json(&json!({ "data": data, "meta": { "request_id": "1",
                    "pagination": { "per_page": 2, "next": next, "has_more": more, "estimated_total": found.len() } } })))
            },
            webhook: |thing| plain(&paddle(thing)),
        },
        Shape {
            id: "mux",
            host: "api.mux.com",
            params: &[],
            key: "id:secret",
            proof: ("authorization", "Basic aWQ6c2VjcmV0"),
            things: 5,
            says: |call, things| {
                if call.path != "/video/v1/assets" {
                    return None;
                }
                let found = within(things, None, None);
                let (page, more) = after(&found, call.asks("cursor"), 2, |thing| thing.id("cursor"));
                let next = page.last().filter(|_| more).map(|last| last.id("cursor"));
                Some(ApiAnswer::json(&json!({ "data": all(page, mux), "next_cursor": next })))
            },
            webhook: |thing| {
                plain(
                    &json!({ "type": "video.asset.ready", "id": thing.id("evt-"), "created_at": thing.rfc3339(),
                    "object": { "type": "asset", "id": thing.id("asset_") }, "data": mux(thing) }),
                )
            },
        },
    ]
}
