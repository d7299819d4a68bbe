//! Any answer of a provider's API, read by every connector: its items, their requests, and where the next page is. Nothing
//! panics, no header line breaks out of its own, and the key goes to no host that the connector doesn't name.
//!
//! The first line is the Link line; what follows is the body.
#![no_main]

use std::collections::HashMap;

use hookmitt_event::Timestamp;
use hookmitt_sync::{Answer, Connector, Values, Walk, Window, connectors};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let link = std::str::from_utf8(&data[..end]).ok();
    let Ok(body) = serde_json::from_slice::<&RawValue>(data.get(end + 1..).unwrap_or_default()) else {
        return;
    };
    connectors().for_each(|connector| read(connector, link, body));
});

fn read(connector: &Connector, link: Option<&str>, body: &RawValue) {
    let params: HashMap<_, _> =
        connector.params.iter().map(|param| (param.name.clone(), "acme".to_owned())).collect();
    let at = Timestamp::from_seconds(1_795_708_800);
    let window = Window { since: at, until: at };
    let values = Values { params: Some(&params), window: Some(window), ..Values::default() };
    let items = connector.items(body).unwrap_or_default();
    for item in &items {
        let _keys = connector.keys(item, &values);
        let of_item = Values { item: Some(&item.raw), ..values };
        if let Ok(Some(asked)) = connector.detail(&of_item) {
            assert_eq!(asked.url.scheme(), "https");
        }
        if let Ok(request) = connector.request(&item.id, &item.raw, &values) {
            let lines = request.headers.iter();
            assert!(lines.into_iter().all(|line| !line.value.contains(&b'\n') && !line.name.contains(':')));
        }
    }
    let mut walk = Walk::begin(connector.list.next.clone());
    let last_id = items.last().map(|item| item.id.as_str());
    let answer = Answer { whole: body, link, items: items.len(), last_id };
    if walk.next(&answer) == Ok(true)
        && let Ok(asked) = connector.page(&Values { place: Some(walk.place()), ..values })
    {
        let host = asked.url.host_str().unwrap_or_default();
        let known = connector.called_hosts();
        let fits = |known: &String| known == host || known.contains('<');
        assert!(asked.url.scheme() == "https" && known.iter().any(fits), "{}", asked.url);
    }
}
