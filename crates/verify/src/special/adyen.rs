//! Adyen's payment notifications: each item carries a signature over eight of its fields
//! (npm:@adyen/api-library, `hmacValidator`).

use serde_json::Value;

use crate::json_duplicates::has_duplicate_names;

/// Notifications with more items are not read. Adyen sends one item, or a few.
const MOST_ITEMS: usize = 100;

/// One item, and the text that its signature covers.
pub(crate) struct Item {
    pub(crate) signature: String,
    pub(crate) content: String,
}

/// Returns the items of a notification. Returns none if the body isn't a notification, if an item has no signature, or
/// if a JSON name is repeated, because then readers could differ in which value is the signed one.
pub(crate) fn items(body: &[u8]) -> Vec<Item> {
    let Ok(notification) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    if has_duplicate_names(body, false) {
        return Vec::new();
    }
    let items = notification["notificationItems"].as_array().filter(|items| items.len() <= MOST_ITEMS);
    let read = |item: &Value| {
        let item = &item["NotificationRequestItem"];
        let signature = item["additionalData"]["hmacSignature"].as_str()?.to_owned();
        Some(Item { signature, content: content(item) })
    };
    items.and_then(|items| items.iter().map(read).collect()).unwrap_or_default()
}

/// Returns the signed text of an item. An absent field counts as empty, and colons in values are not escaped.
fn content(item: &Value) -> String {
    let places = [
        "/pspReference",
        "/originalReference",
        "/merchantAccountCode",
        "/merchantReference",
        "/amount/value",
        "/amount/currency",
        "/eventCode",
        "/success",
    ];
    let text = |place: &&str| match item.pointer(place) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    places.iter().map(text).collect::<Vec<_>>().join(":")
}

/// Replaces the signature of each item, in order; `None` if the body isn't a notification.
pub(crate) fn with_signatures(body: &[u8], sign: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    let mut notification: Value = serde_json::from_slice(body).ok()?;
    for item in notification["notificationItems"].as_array_mut()? {
        let item = &mut item["NotificationRequestItem"];
        let signature = sign(&content(item));
        item.as_object()?;
        item["additionalData"]["hmacSignature"] = Value::String(signature);
    }
    serde_json::to_vec(&notification).ok()
}
