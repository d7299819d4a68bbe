//! The connectors, against answers in the shapes that the providers document.

use std::collections::{HashMap, HashSet};

use hookmitt_event::Timestamp;
use hookmitt_verify::moment;
use serde_json::{Value, json, value::RawValue};

use crate::{
    Answer, AskError, Asked, Connector, Gives, ItemError, KeyPlace, Place, Values, Walk, Window, connector,
    connectors,
};

const HOUR: Window = Window {
    since: Timestamp::from_micros(1_795_708_800_000_000),
    until: Timestamp::from_micros(1_795_712_400_000_000),
};

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn params() -> HashMap<String, String> {
    [("at", "repos/octo/green house"), ("hook", "42")].map(|(name, value)| (name.into(), value.into())).into()
}

/// Returns a value for each param of a connector.
fn any_params(of: &Connector) -> HashMap<String, String> {
    let value = |name: &str| match name {
        "region" => "eu",
        "host" => of.hosts.first().and_then(|host| host.beginning().split('/').next()).unwrap_or("x"),
        _ => "acme-7",
    };
    of.params.iter().map(|param| (param.name.clone(), value(&param.name).to_owned())).collect()
}

fn page(of: &Connector, place: &Place) -> Asked {
    let params = params();
    let values = Values { params: Some(&params), window: Some(HOUR), place: Some(place), item: None };
    of.page(&values).unwrap()
}

#[test]
fn every_connector_reads_and_asks_only_for_what_it_can_know() {
    for connector in connectors() {
        let mut known: HashSet<&str> = ["since", "until", "cursor", "page", "offset"].into();
        known.extend(connector.params.iter().map(|param| param.name.as_str()));
        let calls = connector.calls();
        for call in calls {
            let texts = call.query.iter().chain(&call.headers).map(|(_, text)| text);
            let unknown: Vec<_> = texts
                .chain([&call.url])
                .flat_map(|text| text.names())
                .filter(|name| !known.contains(name) && !name.starts_with('/'))
                .collect();
            assert_eq!(unknown, Vec::<&str>::new(), "{}", connector.id);
        }
        assert!(!connector.hosts.is_empty() && !connector.lost.is_empty(), "{}", connector.id);
        assert!(connector.lost.iter().all(|lost| lost.ends_with('.')), "{}", connector.id);
        assert!(connector.confidence.is_some() && !connector.evidence.is_empty(), "{}", connector.id);
        assert!(!connector.key.scope.is_empty() && !connector.key.hint.is_empty(), "{}", connector.id);
        let params = any_params(connector);
        let values = Values { params: Some(&params), window: Some(HOUR), ..Values::default() };
        connector.check(&values).unwrap();
        let walk = Walk::begin(connector.list.next.clone());
        let asked = connector.page(&Values { place: Some(walk.place()), ..values }).unwrap();
        assert_eq!(asked.url.scheme(), "https", "{}", connector.id);
        if let KeyPlace::ClientCredentials(url) = &connector.key.sent {
            let host = url::Url::parse(url).unwrap().host_str().unwrap().to_owned();
            assert!(connector.hosts.iter().any(|known| known.beginning() == host), "{}", connector.id);
        }
    }
}

#[test]
fn stripe_is_read_page_by_page() {
    let stripe = connector("stripe").unwrap();
    let mut walk = Walk::begin(stripe.list.next.clone());
    let first = page(stripe, walk.place());
    assert_eq!(
        first.url.as_str(),
        "https://api.stripe.com/v1/events?limit=100&created%5Bgte%5D=1795708800&created%5Blt%5D=1795712400"
    );
    let answer = raw(
        r#"{"object":"list","data":[{"id":"evt_2","object":"event","created":1795709000,"type":"charge.succeeded","data":{"object":{"amount":1.50}}},
            {"id":"evt_1","created":1795708900}],"has_more":true}"#,
    );
    let items = stripe.items(&answer).unwrap();
    assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["evt_2", "evt_1"]);
    assert_eq!(items[0].time, Some(Timestamp::from_seconds(1_795_709_000)));
    let last = items.last().map(|item| item.id.as_str());
    assert!(walk.next(&Answer { whole: &answer, link: None, items: items.len(), last_id: last }).unwrap());
    assert!(page(stripe, walk.place()).url.as_str().ends_with("&starting_after=evt_1"));
    let request = stripe.request("evt_2", &items[0].raw, &Values::default()).unwrap();
    assert_eq!(&request.body[..], items[0].raw.get().as_bytes(), "byte for byte, 1.50 included");
    assert_eq!(request.headers.get_all("content-type").count(), 1);
}

#[test]
fn github_gives_what_it_sent() {
    let github = connector("github").unwrap();
    assert_eq!(github.gives, Gives::Sent);
    let asked = page(github, &Place::default());
    assert_eq!(
        asked.url.as_str(),
        "https://api.github.com/repos/octo/green%20house/hooks/42/deliveries?per_page=100"
    );
    let list = raw(
        r#"[{"id":12345678901234567,"guid":"0b98","delivered_at":"2026-11-26T16:10:00Z","event":"issues"}]"#,
    );
    let items = github.items(&list).unwrap();
    assert_eq!((items[0].id.as_str(), items[0].time), ("12345678901234567", moment("2026-11-26T16:10:00Z")));
    let params = params();
    let values = Values { params: Some(&params), item: Some(&items[0].raw), ..Values::default() };
    let detail = github.detail(&values).unwrap().unwrap();
    assert!(detail.url.as_str().ends_with("/hooks/42/deliveries/12345678901234567"), "{}", detail.url);
    let content = raw(
        r#"{"id":1,"request":{"headers":{"X-GitHub-Delivery":"0b98","X-Hub-Signature-256":"sha256=ab","Content-Length":"7"},"payload":{"action":"opened","z":1, "a":2}}}"#,
    );
    let request = github.request("1", &content, &values).unwrap();
    assert_eq!(&request.body[..], br#"{"action":"opened","z":1, "a":2}"#);
    assert_eq!(
        &request.headers.as_wire()[..],
        b"X-GitHub-Delivery: 0b98\r\nX-Hub-Signature-256: sha256=ab\r\n"
    );
    let next =
        r#"<https://api.github.com/repositories/1/hooks/42/deliveries?per_page=100&cursor=v1_1>; rel="next""#;
    let mut walk = Walk::begin(github.list.next.clone());
    assert!(walk.next(&Answer { whole: &list, link: Some(next), items: 1, last_id: None }).unwrap());
    assert!(page(github, walk.place()).url.as_str().ends_with("cursor=v1_1"));
}

#[test]
fn fireflies_asks_in_graphql_and_makes_the_event_that_it_would_have_sent() {
    let fireflies = connector("fireflies").unwrap();
    let asked = page(fireflies, Walk::begin(fireflies.list.next.clone()).place());
    let body: Value = serde_json::from_slice(&asked.body.unwrap()).unwrap();
    assert_eq!(
        body["variables"],
        json!({ "from": "2026-11-26T16:00:00Z", "to": "2026-11-26T17:00:00Z", "skip": 0 })
    );
    let answer = raw(r#"{"data":{"transcripts":[{"id":"ASxwZ","title":"Stand-up","date":1795709000000}]}}"#);
    let item = fireflies.items(&answer).unwrap().remove(0);
    assert_eq!(item.time, Some(Timestamp::from_seconds(1_795_709_000)));
    let request = fireflies.request(&item.id, &item.raw, &Values::default()).unwrap();
    assert_eq!(&request.body[..], br#"{"event":"meeting.transcribed","meeting_id":"ASxwZ"}"#);
}

#[test]
fn a_key_is_sent_to_its_own_hosts_only() {
    let github = connector("github").unwrap();
    for (url, host) in [
        ("https://evil.example/deliveries", "evil.example"),
        ("http://api.github.com/deliveries", "api.github.com"),
        ("https://api.github.com:8443/deliveries", "api.github.com"),
        ("https://me@api.github.com/deliveries", "api.github.com"),
        ("https://api.github.com.evil.example/", "api.github.com.evil.example"),
    ] {
        let place = Place { url: Some(url.parse().unwrap()), ..Place::default() };
        let params = params();
        let values = Values { params: Some(&params), place: Some(&place), ..Values::default() };
        assert_eq!(github.page(&values).unwrap_err(), AskError::Host(host.to_owned()), "{url}");
    }
    let missing = github.page(&Values::default()).unwrap_err();
    assert_eq!(missing, AskError::Missing("at".to_owned()));
    let up = HashMap::from([
        ("at".to_owned(), "repos/../../user".to_owned()),
        ("hook".to_owned(), "1?x#y".to_owned()),
    ]);
    let asked = github.page(&Values { params: Some(&up), ..Values::default() }).unwrap();
    assert!(asked.url.as_str().starts_with("https://api.github.com/repos/"), "{}", asked.url);
    assert!(asked.url.path().ends_with("/hooks/1%3Fx%23y/deliveries"), "{}", asked.url);
}

#[test]
fn what_an_answer_lacks_is_said() {
    let github = connector("github").unwrap();
    let none = github.items(&raw(r#"{"message":"Bad credentials"}"#)).unwrap_err();
    assert_eq!(none, ItemError::NoList(String::new()));
    let no_id = github.items(&raw(r#"[{"guid":"x"},{"id":7}]"#)).unwrap();
    assert_eq!(
        no_id.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(),
        ["", "7"],
        "the others are read"
    );
    let no_body = github.request("7", &raw(r#"{"request":{}}"#), &Values::default()).unwrap_err();
    assert_eq!(no_body, ItemError::NoBody("7".to_owned()));
    let smuggled = raw(r#"{"request":{"headers":{"A":"1\r\nB: 2"},"payload":{}}}"#);
    let headers = github.request("7", &smuggled, &Values::default()).unwrap_err();
    assert_eq!(headers, ItemError::Headers("7".to_owned()));
}

#[test]
fn threat_13_what_a_user_says_leads_the_key_to_no_other_host() {
    for (id, name, value) in [
        ("shopify", "shop", "evil.example/"),
        ("shopify", "shop", "evil.example#"),
        ("shopify", "shop", "evil.example:443/?"),
        ("shopify", "shop", "user@evil.example/"),
        ("shopify", "shop", "shop%2Eevil"),
        ("mailgun", "host", "evil.example"),
        ("svix", "region", "evil.example/x"),
    ] {
        let connector = connector(id).unwrap();
        let mut params = any_params(connector);
        params.insert(name.to_owned(), value.to_owned());
        let asked =
            connector.check(&Values { params: Some(&params), window: Some(HOUR), ..Values::default() });
        assert!(asked.is_err(), "{id} {value}: {asked:?}");
    }
}

#[test]
fn a_user_s_connector_says_who_gets_the_key_before_anything_is_filled_in() {
    let own = |url: &str| {
        Connector::own(json!({
            "name": "Mine", "params": [{ "name": "host", "label": "Host", "hint": "h" }], "key": { "sent": "bearer" },
            "list": { "items": "", "id": "/id", "next": { "url": "/next" }, "call": { "url": url } },
        }))
    };
    for url in [
        "https://{{host}}/x",
        "https://api.{{host}}",
        "https://a.example{{host}}/x",
        "ftp://a.example/",
        "/x",
    ] {
        assert!(own(url).is_err(), "{url}");
    }
    let mine = own("http://127.0.0.1:8080/things/{{host}}").unwrap();
    let params = [("host".to_owned(), "a/../../x".to_owned())].into();
    let values = Values { params: Some(&params), ..Values::default() };
    assert!(mine.page(&values).unwrap().url.as_str().starts_with("http://127.0.0.1:8080/"));
    for (next, is_same) in [
        ("http://127.0.0.1:8080/2", true),
        ("http://127.0.0.1:8081/2", false),
        ("https://127.0.0.1:8080/2", false),
    ] {
        let place = Place { url: Some(next.parse().unwrap()), ..Place::default() };
        let asked = mine.page(&Values { place: Some(&place), ..values });
        assert_eq!(asked.is_ok(), is_same, "{next}");
    }
}

#[test]
fn a_body_that_is_kept_as_a_text_is_that_text_and_what_is_hidden_is_left_out() {
    let contentful = connector("contentful").unwrap();
    let call = raw(r#"{"request":{"headers":{"X-A":"1","X-Secret":"[REDACTED]"},"body":"{\"a\": 1}"}}"#);
    let request = contentful.request("1", &call, &Values::default()).unwrap();
    assert_eq!(&request.body[..], br#"{"a": 1}"#);
    assert!(request.headers.has("x-a") && !request.headers.has("x-secret"));
}

#[test]
fn a_part_of_an_item_stays_what_it_is() {
    let mailgun = connector("mailgun").unwrap();
    let item = raw(r#"{"event":"opened","id":"x","n":1.50,"tags":["a"]}"#);
    let request = mailgun.request("x", &item, &Values::default()).unwrap();
    assert_eq!(&request.body[..], br#"{"event-data":{"event":"opened","id":"x","n":1.50,"tags":["a"]}}"#);
}
