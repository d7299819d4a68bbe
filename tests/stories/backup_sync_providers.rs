//! Each provider's connector against an API in the shape that the provider documents, and the provider's own SDK against
//! the same API.

use hookmitt_event::Timestamp;
use hookmitt_stories::{App, Language, ProviderApi, post, report, sdk_lists};
use serde_json::{Value, json};

use super::{
    apis::stripe::{Syncs as _, counts},
    apis::{Shape, Thing, shapes},
};

/// Returns things of the last hour, each at a time of its own.
pub(crate) fn things(shape: &Shape) -> Vec<Thing> {
    let now = Timestamp::now().as_seconds();
    let thing = |number: usize| Thing { number, at: Timestamp::from_seconds(now - 120 - 30 * number as i64) };
    (0..shape.things).map(thing).collect()
}

pub(crate) fn api_of(shape: Shape, things: Vec<Thing>) -> ProviderApi {
    let host = shape.host;
    ProviderApi::start(&[host], move |call| shape.answer(call, &things))
}

async fn app_with(shape_id: &str, params: &[(&str, &str)], key: &str, api: &ProviderApi) -> App {
    let app = App::start_reaching(api.network()).await;
    app.source("src", json!({ "provider": shape_id })).await;
    let params: serde_json::Map<_, _> =
        params.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    app.ask("PATCH", "/api/sync/src", json!({ "every_s": 0, "params": params })).await;
    app.api_key("src", key).await;
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn every_connector_is_read_to_its_end_and_knows_its_webhooks() {
    let mut told = Vec::new();
    for shape in shapes() {
        let (id, params, key, webhook) = (shape.id, shape.params, shape.key, shape.webhook);
        let things = things(&shape);
        let (first, last, count) = (things[0], things[things.len() - 1], things.len() as i64);
        let api = api_of(shape, things);
        let app = app_with(id, params, key, &api).await;
        let checked = app.ask("POST", "/api/sync/src/check", Value::Null).await;
        assert_eq!(checked["ok"], true, "{id}: {checked}");

        // One webhook came before, one comes after.
        let send = async |thing: Thing| {
            let (lines, body) = webhook(thing);
            let lines: Vec<_> = lines.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let reply = post(app.capture(), "/src", &lines, body.as_bytes()).await;
            let stored = reply.header("x-hookmitt-event-id").unwrap_or_else(|| panic!("{id}: {reply:?}"));
            app.event(stored).await
        };
        let before = send(first).await;
        let report = app.sync("src", json!({})).await;
        assert_eq!(
            (counts(&report), &report["why"]),
            ([count, 1, count - 1, 0, 0], &Value::Null),
            "{id}: {before}"
        );
        assert_eq!(counts(&app.sync("src", json!({})).await), [count, count, 0, 0, 0], "{id}");
        let after = send(last).await;
        let copies = app.events().await;
        let copy = copies.iter().find(|event| event["id"] == after["duplicate_of"]);
        let copy = copy.unwrap_or_else(|| panic!("{id}: the webhook isn't known as the copy's: {after}"));
        assert_eq!(copy["via"], "backup_sync", "{id}");
        assert_eq!((&copy["type"], &copy["provider"]), (&after["type"], &after["provider"]), "{id}");

        app.api_key("src", "wrong").await;
        let checked = app.ask("POST", "/api/sync/src/check", Value::Null).await;
        assert_eq!(checked["ok"], false, "{id}: a wrong key is told");
        told.push(id);
    }
    let mut all: Vec<_> = hookmitt_sync::connectors().map(|connector| connector.id.as_str()).collect();
    all.retain(|id| !told.contains(id));
    assert!(all.is_empty(), "no API plays these: {all:?}");
}

/// The official SDKs that can be told where the API is. Those of the other providers have no such setting, list nothing,
/// or don't exist.
const SDKS: [(&str, Language); 12] = [
    ("stripe", Language::Node),
    ("svix", Language::Node),
    ("resend", Language::Node),
    ("workos", Language::Node),
    ("paddle", Language::Node),
    ("mux", Language::Node),
    ("slack", Language::Node),
    ("polar", Language::Python),
    ("square", Language::Python),
    ("paypal", Language::Python),
    ("hubspot", Language::Python),
    ("twilio", Language::Python),
];

#[tokio::test(flavor = "multi_thread")]
async fn official_sdks_list_the_same() {
    let mut table = Vec::new();
    for (id, language) in SDKS {
        let shape = shapes().into_iter().find(|shape| shape.id == id).unwrap();
        let (params, key) = (shape.params, shape.key);
        let things = things(&shape);
        let api = api_of(shape, things);
        let app = app_with(id, params, key, &api).await;
        app.sync("src", json!({ "dry_run": true })).await;
        let listed = app.ask("GET", "/api/sync/src/events?limit=1000", Value::Null).await;
        let mut ours: Vec<_> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect();
        let known: serde_json::Map<_, _> =
            params.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let Some((sdk, mut theirs)) = sdk_lists(id, language, &api.url(), key, &known.into()).await else {
            return;
        };
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{sdk}");
        table.push(format!("{id:12} {sdk:32} lists the same {} items", ours.len()));
    }
    table.iter().for_each(|line| report(line));
}
