//! Payments: Stripe, PayPal, Square, GoCardless, Coinbase Commerce.

use hookmitt_stories::ApiAnswer;
use serde_json::{Value, json};

use super::stripe::stripe_lists;
use super::{Shape, Thing, after, all, plain, seconds, within};

fn stripe(thing: Thing) -> Value {
    json!({ "id": thing.id("evt_"), "object": "event", "created": thing.at.as_seconds(), "type": "invoice.paid",
        "data": { "object": { "id": thing.id("in_"), "object": "invoice" } } })
}

fn paypal(thing: Thing) -> Value {
    json!({ "id": thing.id("WH-"), "create_time": thing.rfc3339(), "event_type": "PAYMENT.SALE.COMPLETED", "event_version": "1.0",
        "resource_type": "sale", "summary": "paid", "resource": { "id": thing.id("SALE-") }, "links": [] })
}

fn square(thing: Thing) -> Value {
    json!({ "merchant_id": "M1", "type": "payment.created", "event_id": thing.id("evt-"), "created_at": thing.rfc3339(),
        "data": { "type": "payment", "id": thing.id("pay-"), "object": {} } })
}

fn gocardless(thing: Thing) -> Value {
    json!({ "events": [{ "id": thing.id("EV"), "created_at": thing.rfc3339(), "resource_type": "payments", "action": "confirmed",
        "links": { "payment": thing.id("PM") } }], "meta": { "webhook_id": thing.id("WB") } })
}

fn coinbase(thing: Thing) -> Value {
    json!({ "id": thing.id("ev-"), "type": "charge:confirmed", "created_at": thing.rfc3339(), "resource": "event",
        "api_version": "2018-03-22", "data": { "id": thing.id("ch-"), "code": thing.id("CODE") } })
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            id: "stripe",
            host: "api.stripe.com",
            params: &[],
            key: "rk_test_4242",
            proof: ("authorization", "Bearer rk_test_4242"),
            things: 5,
            says: |call, things| {
                (call.path == "/v1/events").then(|| stripe_lists(call, &all(things, stripe)))
            },
            webhook: |thing| plain(&stripe(thing)),
        },
        Shape {
            id: "paypal",
            host: "api-m.paypal.com",
            params: &[],
            key: "client:secret",
            proof: ("authorization", "Bearer A21AA"),
            things: 5,
            says: |call, things| match call.path.as_str() {
                "/v1/oauth2/token" => {
                    let is_right = call.header("authorization") == Some("Basic Y2xpZW50OnNlY3JldA==");
                    let token = json!({ "access_token": "A21AA", "token_type": "Bearer", "app_id": "1", "scope": "", "expires_in": 32_400 });
                    Some(if is_right {
                        ApiAnswer::json(&token)
                    } else {
                        ApiAnswer::error(401, "invalid_client")
                    })
                }
                "/v1/notifications/webhooks" => Some(ApiAnswer::json(&json!({ "webhooks": [] }))),
                "/v1/notifications/webhooks-events" => {
                    let (from, to) = (call.asks("start_time"), call.asks("end_time"));
                    let found = within(things, seconds(from), seconds(to));
                    let (page, more) = after(&found, call.asks("after_id"), 2, |thing| thing.id("WH-"));
                    let mut links =
                        vec![json!({ "rel": "self", "href": "https://api-m.paypal.com/x", "method": "GET" })];
                    if more {
                        let last = page.last()?.id("WH-");
                        let href = format!(
                            "{}/v1/notifications/webhooks-events?after_id={last}&start_time={}&end_time={}",
                            call.base,
                            from.unwrap_or_default(),
                            to.unwrap_or_default()
                        );
                        links.push(json!({ "rel": "next", "href": href, "method": "GET" }));
                    }
                    Some(ApiAnswer::json(
                        &json!({ "events": all(page, paypal), "count": page.len(), "links": links }),
                    ))
                }
                _ => None,
            },
            webhook: |thing| plain(&paypal(thing)),
        },
        Shape {
            id: "square",
            host: "connect.squareup.com",
            params: &[],
            key: "EAAA1",
            proof: ("authorization", "Bearer EAAA1"),
            things: 5,
            says: |call, things| {
                if call.path == "/v2/events/types" {
                    return Some(ApiAnswer::json(&json!({ "event_types": [] })));
                }
                if call.path != "/v2/events" || call.method != "POST" {
                    return None;
                }
                let asked = call.json();
                let span = &asked["query"]["filter"]["created_at"];
                let mut found =
                    within(things, seconds(span["start_at"].as_str()), seconds(span["end_at"].as_str()));
                found.reverse();
                let (page, more) = after(&found, asked["cursor"].as_str(), 2, |thing| thing.id("evt-"));
                let mut list = json!({ "events": all(page, square), "metadata": [] });
                if more {
                    list["cursor"] = page.last()?.id("evt-").into();
                }
                Some(ApiAnswer::json(&list))
            },
            webhook: |thing| plain(&square(thing)),
        },
        Shape {
            id: "gocardless",
            host: "api.gocardless.com",
            params: &[],
            key: "live_1",
            proof: ("authorization", "Bearer live_1"),
            things: 5,
            says: |call, things| {
                if call.path != "/webhooks" || call.header("gocardless-version").is_none() {
                    return None;
                }
                let (from, to) = (call.asks("created_at[gte]"), call.asks("created_at[lt]"));
                let found = within(things, seconds(from), seconds(to));
                let (page, more) = after(&found, call.asks("after"), 2, |thing| thing.id("WB"));
                let webhooks = all(page, |thing| {
                    json!({ "id": thing.id("WB"), "url": "https://x.example", "created_at": thing.rfc3339(), "is_test": true,
                        "successful": false, "response_code": 500, "request_headers": { "Content-Type": "application/json" },
                        "request_body": gocardless(thing).to_string() })
                });
                let next = page.last().filter(|_| more).map(|last| last.id("WB"));
                let meta = json!({ "cursors": { "before": null, "after": next }, "limit": 2 });
                Some(ApiAnswer::json(&json!({ "webhooks": webhooks, "meta": meta })))
            },
            webhook: |thing| plain(&gocardless(thing)),
        },
        Shape {
            id: "coinbase_commerce",
            host: "api.commerce.coinbase.com",
            params: &[],
            key: "cc-1",
            proof: ("x-cc-api-key", "cc-1"),
            things: 5,
            says: |call, things| {
                if call.path != "/events" {
                    return None;
                }
                let found = within(things, None, None);
                let (page, more) = after(&found, call.asks("starting_after"), 2, |thing| thing.id("ev-"));
                let range = [page.first(), page.last().filter(|_| more)]
                    .map(|thing| thing.map(|thing| thing.id("ev-")));
                Some(ApiAnswer::json(
                    &json!({ "data": all(page, coinbase), "pagination": { "order": "desc", "limit": 2, "cursor_range": range } }),
                ))
            },
            webhook: |thing| {
                plain(
                    &json!({ "attempt_number": 1, "id": thing.id("dlv-"), "scheduled_for": thing.rfc3339(), "event": coinbase(thing) }),
                )
            },
        },
    ]
}
