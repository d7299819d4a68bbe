//! Developers' tools: GitHub, GitLab, Figma.

use hookmitt_stories::ApiAnswer;
use serde_json::{Value, json};

use super::{Shape, Thing, after, all, page, plain, within};

fn push(thing: Thing) -> Value {
    json!({ "ref": "refs/heads/main", "after": thing.id("c0ffee"), "repository": { "full_name": "octo/repo" } })
}

fn figma(thing: Thing) -> Value {
    json!({ "event_type": "FILE_UPDATE", "file_key": "F1", "file_name": "Site", "passcode": "p", "timestamp": thing.rfc3339(), "webhook_id": "22" })
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape {
            id: "github",
            host: "api.github.com",
            params: &[("at", "repos/octo/repo"), ("hook", "42")],
            key: "github_pat_1",
            proof: ("authorization", "Bearer github_pat_1"),
            things: 5,
            says: |call, things| {
                let rest = call.path.strip_prefix("/repos/octo/repo/hooks/42")?;
                let found = within(things, None, None);
                let of = |thing: Thing| {
                    json!({ "id": 9_000 + thing.number, "guid": thing.id("guid-"), "delivered_at": thing.rfc3339(), "redelivery": false,
                    "duration": 0.3, "status": "Invalid HTTP Response: 502", "status_code": 502, "event": "push", "action": null, "installation_id": null, "repository_id": 1 })
                };
                match rest {
                    "" => Some(ApiAnswer::json(&json!({ "id": 42, "active": true }))),
                    "/deliveries" => {
                        let (page, more) = after(&found, call.asks("cursor"), 2, |thing| thing.id("v1_"));
                        let answer = ApiAnswer::json(&all(page, of).into());
                        if !more {
                            return Some(answer);
                        }
                        let next = format!(
                            "<{}{}?per_page=2&cursor={}>; rel=\"next\"",
                            call.base,
                            call.path,
                            page.last()?.id("v1_")
                        );
                        Some(answer.with("Link", next))
                    }
                    one => {
                        let id: usize = one.strip_prefix("/deliveries/")?.parse().ok()?;
                        let thing = found.iter().find(|thing| 9_000 + thing.number == id)?;
                        let mut delivery = of(*thing);
                        delivery["request"] = json!({ "headers": { "X-GitHub-Event": "push", "X-GitHub-Delivery": thing.id("guid-"),
                            "Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/1" }, "payload": push(*thing) });
                        delivery["response"] = json!({ "headers": {}, "payload": "" });
                        Some(ApiAnswer::json(&delivery))
                    }
                }
            },
            webhook: |thing| {
                let lines = [
                    ("X-GitHub-Event", "push".to_owned()),
                    ("X-GitHub-Delivery", thing.id("guid-")),
                    ("Content-Type", "application/json".to_owned()),
                ];
                (lines.into(), push(thing).to_string())
            },
        },
        Shape {
            id: "gitlab",
            host: "gitlab.com",
            params: &[("project", "1"), ("hook", "2")],
            key: "glpat-1",
            proof: ("private-token", "glpat-1"),
            things: 5,
            says: |call, things| {
                let rest = call.path.strip_prefix("/api/v4/projects/1/hooks/2")?;
                if rest.is_empty() {
                    return Some(ApiAnswer::json(&json!({ "id": 2 })));
                }
                let found = within(things, None, None);
                let number = usize::try_from(call.number("page").unwrap_or(1) - 1).ok()?;
                let events = all(page(&found, number, 2), |thing| {
                    json!({ "id": 100 + thing.number, "url": "https://x.example", "trigger": "push_hooks", "created_at": thing.rfc3339(),
                        "request_headers": { "Content-Type": "application/json", "X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": "[REDACTED]",
                            "Idempotency-Key": thing.id("idem-") },
                        "request_data": { "object_kind": "push", "ref": "refs/heads/main", "project": { "path_with_namespace": "a/b" } },
                        "response_status": "500", "execution_duration": 0.1 })
                });
                (rest == "/events").then(|| ApiAnswer::json(&events.into()))
            },
            webhook: |thing| {
                let lines = [
                    ("X-Gitlab-Event", "Push Hook".to_owned()),
                    ("Idempotency-Key", thing.id("idem-")),
                    ("Content-Type", "application/json".to_owned()),
                ];
                let body = json!({ "object_kind": "push", "ref": "refs/heads/main", "project": { "path_with_namespace": "a/b" } });
                (lines.into(), body.to_string())
            },
        },
        Shape {
            id: "figma",
            host: "api.figma.com",
            params: &[("webhook", "22")],
            key: "figd_1",
            proof: ("x-figma-token", "figd_1"),
            things: 5,
            says: |call, things| match call.path.as_str() {
                "/v2/webhooks/22" => Some(ApiAnswer::json(&json!({ "id": "22" }))),
                "/v2/webhooks/22/requests" => {
                    let requests = all(&within(things, None, None), |thing| {
                        json!({ "webhook_id": "22", "request_info": { "id": "22", "endpoint": "https://x.example", "payload": figma(thing), "sent_at": thing.rfc3339() },
                            "response_info": null, "error_msg": "" })
                    });
                    Some(ApiAnswer::json(&json!({ "requests": requests })))
                }
                _ => None,
            },
            webhook: |thing| plain(&figma(thing)),
        },
    ]
}
