//! Messages and meetings: Twilio, Mailgun, SendGrid, Slack, Postmark, Fireflies.

use hookmitt_stories::ApiAnswer;
use serde_json::{Value, json};

use super::{Shape, Thing, after, all, page, plain, seconds, within};

fn form(thing: Thing) -> String {
    format!("MessageSid={}&MessageStatus=delivered&To=%2B1555", thing.id("SM"))
}

fn opened(thing: Thing) -> Value {
    json!({ "event": "opened", "id": thing.id("mg"), "timestamp": thing.at.as_seconds(), "recipient": "a@example.com",
        "message": { "headers": { "message-id": thing.id("m@") } } })
}

fn bounce(thing: Thing) -> Value {
    json!({ "RecordType": "Bounce", "ID": 600 + thing.number, "Type": "HardBounce", "MessageID": thing.id("msg-"),
        "Email": "a@example.com", "BouncedAt": thing.rfc3339() })
}

fn ts(thing: Thing) -> String {
    format!("{}.{:06}", thing.at.as_seconds(), thing.number)
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            id: "twilio",
            host: "monitor.twilio.com",
            params: &[],
            key: "SK1:secret",
            proof: ("authorization", "Basic U0sxOnNlY3JldA=="),
            things: 5,
            says: |call, things| {
                let found = within(things, None, None);
                let of = |thing: Thing| {
                    json!({ "account_sid": "AC1", "sid": thing.id("NO"), "error_code": "11200", "log_level": "error",
                    "date_generated": thing.rfc3339(), "date_created": thing.rfc3339(), "date_updated": thing.rfc3339(),
                    "resource_sid": thing.id("SM"), "service_sid": null, "more_info": "", "alert_text": "", "request_method": "POST",
                    "request_url": "https://x.example", "api_version": "2010-04-01", "url": "" })
                };
                if call.path == "/v1/Alerts" {
                    let (page, more) = after(&found, call.asks("PageToken"), 2, |thing| thing.id("NO"));
                    let mut alerts = all(page, of);
                    // A call to Twilio's own API that failed is no webhook.
                    alerts.push(json!({ "sid": "NO99999", "error_code": "20003", "date_generated": found[0].rfc3339() }));
                    let next = page.last().filter(|_| more);
                    let next = next.map(|last| {
                        format!("{}/v1/Alerts?PageSize=2&PageToken={}", call.base, last.id("NO"))
                    });
                    let meta = json!({ "page": 0, "page_size": 2, "first_page_url": "", "previous_page_url": null, "url": "", "next_page_url": next, "key": "alerts" });
                    return Some(ApiAnswer::json(&json!({ "alerts": alerts, "meta": meta })));
                }
                let sid = call.path.strip_prefix("/v1/Alerts/")?;
                let thing = found.iter().find(|thing| thing.id("NO") == sid)?;
                let mut one = of(*thing);
                one["request_variables"] = form(*thing).into();
                Some(ApiAnswer::json(&one))
            },
            webhook: |thing| {
                (
                    vec![("Content-Type", "application/x-www-form-urlencoded; charset=utf-8".to_owned())],
                    form(thing),
                )
            },
        },
        Shape {
            id: "mailgun",
            host: "api.eu.mailgun.net",
            params: &[("host", "api.eu.mailgun.net"), ("domain", "mg.example.com")],
            key: "api:key-1",
            proof: ("authorization", "Basic YXBpOmtleS0x"),
            things: 5,
            says: |call, things| {
                let rest = call.path.strip_prefix("/v3/mg.example.com/events")?;
                let found = within(things, call.number("begin"), call.number("end"));
                let (page, _) = after(&found, rest.strip_prefix('/'), 2, |thing| thing.id("mg"));
                // Mailgun always names a next page; an empty one is the last.
                let place =
                    page.last().map_or_else(|| rest.trim_start_matches('/').to_owned(), |last| last.id("mg"));
                let next = format!("{}/v3/mg.example.com/events/{place}", call.base);
                Some(ApiAnswer::json(
                    &json!({ "items": all(page, opened), "paging": { "next": next, "previous": "" } }),
                ))
            },
            webhook: |thing| {
                plain(
                    &json!({ "signature": { "timestamp": "1", "token": thing.id("tok"), "signature": "00" }, "event-data": opened(thing) }),
                )
            },
        },
        Shape {
            id: "sendgrid",
            host: "api.sendgrid.com",
            params: &[],
            key: "SG.1",
            proof: ("authorization", "Bearer SG.1"),
            things: 5,
            says: |call, things| {
                if call.path == "/v3/scopes" {
                    return Some(ApiAnswer::json(&json!({ "scopes": ["email_activity.read"] })));
                }
                if call.path != "/v3/messages" || !call.asks("query")?.contains("TIMESTAMP") {
                    return None;
                }
                let messages = all(&within(things, None, None), |thing| {
                    json!({ "from_email": "b@example.com", "msg_id": thing.id("msg."), "subject": "Hi", "to_email": "a@example.com",
                        "status": "delivered", "opens_count": 0, "clicks_count": 0, "last_event_time": thing.rfc3339() })
                });
                Some(ApiAnswer::json(&json!({ "messages": messages })))
            },
            webhook: |thing| {
                plain(
                    &json!([{ "email": "a@example.com", "event": "delivered", "sg_event_id": thing.id("sge"), "sg_message_id": thing.id("msg."), "timestamp": thing.at.as_seconds() }]),
                )
            },
        },
        Shape {
            id: "slack",
            host: "slack.com",
            params: &[("channel", "C024BE91L")],
            key: "xoxb-1",
            proof: ("authorization", "Bearer xoxb-1"),
            things: 5,
            says: |call, things| {
                if call.path == "/api/auth.test" {
                    return Some(ApiAnswer::json(&json!({ "ok": true, "user_id": "U1" })));
                }
                let asked = |name: &str| {
                    call.asks(name).map(str::to_owned).or_else(|| {
                        let body = String::from_utf8_lossy(&call.body).into_owned();
                        body.split('&')
                            .find_map(|pair| pair.strip_prefix(&format!("{name}=")).map(str::to_owned))
                    })
                };
                if call.path != "/api/conversations.history" || asked("channel")? != "C024BE91L" {
                    return None;
                }
                let number = |name: &str| asked(name).and_then(|text| text.split('.').next()?.parse().ok());
                let found = within(things, number("oldest"), number("latest"));
                let (page, more) = after(&found, asked("cursor").as_deref(), 2, |thing| ts(*thing));
                let messages = all(
                    page,
                    |thing| json!({ "type": "message", "user": "U1", "text": "hi", "ts": ts(thing) }),
                );
                let mut list = json!({ "ok": true, "messages": messages, "has_more": more });
                if more {
                    list["response_metadata"] = json!({ "next_cursor": ts(*page.last()?) });
                }
                Some(ApiAnswer::json(&list))
            },
            webhook: |thing| {
                plain(
                    &json!({ "type": "event_callback", "event_id": thing.id("Ev"), "event_time": thing.at.as_seconds(), "team_id": "T1",
                    "event": { "type": "message", "channel": "C024BE91L", "channel_type": "channel", "user": "U1", "text": "hi", "ts": ts(thing) } }),
                )
            },
        },
        Shape {
            id: "postmark",
            host: "api.postmarkapp.com",
            params: &[],
            key: "pm-1",
            proof: ("x-postmark-server-token", "pm-1"),
            things: 5,
            says: |call, things| match call.path.as_str() {
                "/server" => Some(ApiAnswer::json(&json!({ "ID": 1, "Name": "x" }))),
                "/bounces" => {
                    let (size, offset) = (call.number("count")?, call.number("offset")?);
                    let found = within(things, None, None);
                    let begin = usize::try_from(offset / size).ok()?;
                    let bounces = all(page(&found, begin, usize::try_from(size).ok()?), bounce);
                    Some(ApiAnswer::json(&json!({ "TotalCount": found.len(), "Bounces": bounces })))
                }
                _ => None,
            },
            webhook: |thing| plain(&bounce(thing)),
        },
        Shape {
            id: "fireflies",
            host: "api.fireflies.ai",
            params: &[],
            key: "ff-1",
            proof: ("authorization", "Bearer ff-1"),
            things: 60,
            says: |call, things| {
                if call.path != "/graphql" || call.method != "POST" {
                    return None;
                }
                let asked = call.json();
                if asked["query"].as_str()?.contains("user {") {
                    return Some(ApiAnswer::json(&json!({ "data": { "user": { "user_id": "1" } } })));
                }
                let variables = &asked["variables"];
                let found =
                    within(things, seconds(variables["from"].as_str()), seconds(variables["to"].as_str()));
                let begin = usize::try_from(variables["skip"].as_i64()? / 50).ok()?;
                let transcripts = all(
                    page(&found, begin, 50),
                    |thing| json!({ "id": thing.id("meet"), "title": "Weekly", "date": thing.at.as_seconds() * 1_000 }),
                );
                Some(ApiAnswer::json(&json!({ "data": { "transcripts": transcripts } })))
            },
            webhook: |thing| {
                plain(
                    &json!({ "meeting_id": thing.id("meet"), "event": "meeting.transcribed", "timestamp": thing.at.as_seconds() * 1_000 }),
                )
            },
        },
    ]
}
