//! Shops, customers and content: Shopify, HubSpot, Contentful, Typeform.

use hookmitt_stories::ApiAnswer;
use serde_json::{Value, json};

use super::{Shape, Thing, after, all, plain, seconds, within};

fn order(thing: Thing) -> Value {
    json!({ "id": 820_982_900 + thing.number, "created_at": thing.rfc3339(), "name": thing.id("#"), "total_price": "199.00", "currency": "EUR" })
}

fn contact(thing: Thing) -> String {
    (5_000 + thing.number).to_string()
}

fn entry(thing: Thing) -> Value {
    json!({ "sys": { "type": "Entry", "id": thing.id("entry"), "revision": 1, "updatedAt": thing.rfc3339() }, "fields": {} })
}

fn response(thing: Thing) -> Value {
    json!({ "token": thing.id("token"), "landed_at": thing.rfc3339(), "submitted_at": thing.rfc3339(), "hidden": {},
        "calculated": { "score": 2 }, "variables": [], "answers": [{ "type": "text", "text": "yes", "field": { "id": "f1" } }] })
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            id: "shopify",
            host: "acme.myshopify.com",
            params: &[("shop", "acme")],
            key: "shpat_1",
            proof: ("x-shopify-access-token", "shpat_1"),
            things: 5,
            says: |call, things| {
                if call.path.ends_with("/orders/count.json") {
                    return Some(ApiAnswer::json(&json!({ "count": 5 })));
                }
                if !call.path.ends_with("/orders.json") {
                    return None;
                }
                let (from, to) = (call.asks("created_at_min"), call.asks("created_at_max"));
                let found = within(things, seconds(from), seconds(to));
                let (page, more) = after(&found, call.asks("page_info"), 2, |thing| thing.id("p"));
                let answer = ApiAnswer::json(&json!({ "orders": all(page, order) }));
                if !more {
                    return Some(answer);
                }
                let next = format!(
                    "<{}{}?limit=250&page_info={}>; rel=\"next\"",
                    call.base,
                    call.path,
                    page.last()?.id("p")
                );
                Some(answer.with("Link", next))
            },
            webhook: |thing| {
                let lines = [
                    ("X-Shopify-Topic", "orders/create".to_owned()),
                    ("X-Shopify-Webhook-Id", thing.id("wh-")),
                    ("X-Shopify-Event-Id", thing.id("ev-")),
                    ("X-Shopify-Shop-Domain", "acme.myshopify.com".to_owned()),
                    ("Content-Type", "application/json".to_owned()),
                ];
                (lines.into(), order(thing).to_string())
            },
        },
        Shape {
            id: "hubspot",
            host: "api.hubapi.com",
            params: &[],
            key: "pat-eu1-1",
            proof: ("authorization", "Bearer pat-eu1-1"),
            things: 5,
            says: |call, things| {
                match (call.method.as_str(), call.path.as_str()) {
                    ("GET", "/crm/v3/objects/contacts") => Some(ApiAnswer::json(&json!({ "results": [] }))),
                    ("POST", "/crm/v3/objects/contacts/search") => {
                        let asked = call.json();
                        let filters = &asked["filterGroups"][0]["filters"];
                        // HubSpot refuses a null cursor and a number as a filter's value.
                        let span = [0, 1].map(|place| {
                            filters[place]["value"].as_str().and_then(|text| text.parse::<i64>().ok())
                        });
                        if asked.get("after").is_some_and(Value::is_null) || span.iter().any(Option::is_none)
                        {
                            return Some(ApiAnswer::error(400, "invalid input"));
                        }
                        let mut found =
                            within(things, span[0].map(|ms| ms / 1_000), span[1].map(|ms| ms / 1_000));
                        found.reverse();
                        let (page, more) =
                            after(&found, asked["after"].as_str(), 2, |thing| thing.number.to_string());
                        let results = all(page, |thing| {
                            json!({ "id": contact(thing), "createdAt": thing.rfc3339(), "updatedAt": thing.rfc3339(), "archived": false,
                                "properties": { "createdate": thing.rfc3339() } })
                        });
                        let mut list = json!({ "total": found.len(), "results": results });
                        if more {
                            list["paging"] = json!({ "next": { "after": page.last()?.number.to_string() } });
                        }
                        Some(ApiAnswer::json(&list))
                    }
                    _ => None,
                }
            },
            webhook: |thing| {
                plain(
                    &json!([{ "eventId": 100 + thing.number, "subscriptionId": 25, "portalId": 33, "appId": 1160,
                    "occurredAt": thing.at.as_seconds() * 1_000, "subscriptionType": "contact.creation", "attemptNumber": 0,
                    "objectId": 5_000 + thing.number, "changeFlag": "CREATED", "changeSource": "IMPORT" }]),
                )
            },
        },
        Shape {
            id: "contentful",
            host: "api.contentful.com",
            params: &[("space", "sp1"), ("webhook", "wh1")],
            key: "CFPAT-1",
            proof: ("authorization", "Bearer CFPAT-1"),
            things: 5,
            says: |call, things| {
                if call.path == "/spaces/sp1/webhook_definitions/wh1" {
                    return Some(ApiAnswer::json(&json!({ "sys": { "id": "wh1" } })));
                }
                let rest = call.path.strip_prefix("/spaces/sp1/webhooks/wh1/calls")?;
                let found = within(things, None, None);
                let of = |thing: Thing| json!({ "sys": { "type": "WebhookCallOverview", "id": thing.id("call") }, "statusCode": 500, "errors": [], "eventType": "publish", "url": "https://x.example", "requestAt": thing.rfc3339(), "responseAt": thing.rfc3339() });
                if rest.is_empty() {
                    return Some(ApiAnswer::json(
                        &json!({ "sys": { "type": "Array" }, "total": 5, "skip": 0, "limit": 100, "items": all(&found, of) }),
                    ));
                }
                let thing = found.iter().find(|thing| rest == format!("/{}", thing.id("call")))?;
                let mut one = of(*thing);
                one["request"] = json!({ "headers": { "X-Contentful-Topic": "ContentManagement.Entry.publish", "X-Secret": "[REDACTED]",
                    "Content-Type": "application/vnd.contentful.management.v1+json" }, "body": entry(*thing).to_string() });
                Some(ApiAnswer::json(&one))
            },
            webhook: |thing| {
                let lines = [
                    ("X-Contentful-Topic", "ContentManagement.Entry.publish".to_owned()),
                    ("Content-Type", "application/vnd.contentful.management.v1+json".to_owned()),
                ];
                (lines.into(), entry(thing).to_string())
            },
        },
        Shape {
            id: "typeform",
            host: "api.typeform.com",
            params: &[("host", "api.typeform.com"), ("form", "lT4Z3j")],
            key: "tfp_1",
            proof: ("authorization", "Bearer tfp_1"),
            things: 5,
            says: |call, things| {
                if call.path != "/forms/lT4Z3j/responses" {
                    return None;
                }
                let found = within(things, call.number("since"), call.number("until"));
                let (page, _) = after(&found, call.asks("before"), 2, |thing| thing.id("token"));
                Some(ApiAnswer::json(
                    &json!({ "total_items": found.len(), "page_count": 3, "items": all(page, response) }),
                ))
            },
            webhook: |thing| {
                let mut form = response(thing);
                form["form_id"] = json!("lT4Z3j");
                plain(
                    &json!({ "event_id": thing.id("01EV"), "event_type": "form_response", "form_response": form }),
                )
            },
        },
    ]
}
