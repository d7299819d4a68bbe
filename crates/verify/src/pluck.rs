//! Takes single values out of a JSON text without building the rest of it.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Longer values are truncated, in bytes. A truncated value may be displayed, but not used as a name.
const LONGEST: usize = 2048;

/// A value that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) text: String,
    /// Whether the text was truncated.
    pub(crate) cut: bool,
}

impl Found {
    pub(crate) fn new(text: &str) -> Self {
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { text: text[..end].to_owned(), cut: end < text.len() }
    }
}

/// The values to take. The JSON pointers form a tree, so that one pass over the text finds all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// The slot for the first top-level key other than the named one.
    other: Option<(String, usize)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    slot: Option<usize>,
    children: Vec<(String, usize)>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], other: None }
    }
}

/// The longest pointer that is accepted. It also bounds the recursion over hostile JSON.
const DEEPEST: usize = 16;

/// The pointer token that descends into a string which itself contains JSON, plain or in base64: `/Message/(json)/id`.
const INSIDE: &str = "(json)";

impl Tree {
    /// Adds a JSON pointer (RFC 6901) whose value goes into `slot`. Returns `false` if it isn't one or is too deep. `*`
    /// is the first element of a list, and [`INSIDE`] continues into a string.
    pub(crate) fn add(&mut self, pointer: &str, slot: usize) -> bool {
        let Some(path) = pointer.strip_prefix('/') else { return false };
        if path.split('/').count() > DEEPEST {
            return false;
        }
        let mut at = 0;
        for token in path.split('/') {
            let token = if token == "*" { "0" } else { token };
            let token = token.replace("~1", "/").replace("~0", "~");
            at = self.child(at, token);
        }
        self.nodes[at].slot = Some(slot);
        true
    }

    /// Takes the first top-level key other than `name` into `slot`.
    pub(crate) fn add_other_key(&mut self, name: &str, slot: usize) {
        self.other = Some((name.to_owned(), slot));
    }

    fn child(&mut self, at: usize, token: String) -> usize {
        if let Some((_, child)) = self.nodes[at].children.iter().find(|(name, _)| *name == token) {
            return *child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[at].children.push((token, child));
        child
    }

    fn is_empty(&self) -> bool {
        self.nodes.len() == 1 && self.other.is_none()
    }

    /// Fills the slots from a JSON text. If the text is malformed, the values before the error are kept.
    pub(crate) fn pluck(&self, json: &[u8], slots: &mut [Option<Found>]) {
        if self.is_empty() {
            return;
        }
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let mut reader = serde_json::Deserializer::from_slice(json);
        let _ = Take { tree: self, at: 0, slots }.deserialize(&mut reader);
    }
}

struct Take<'t> {
    tree: &'t Tree,
    at: usize,
    slots: &'t mut [Option<Found>],
}

impl Take<'_> {
    fn keep(&mut self, text: &str) {
        let slot = self.tree.nodes[self.at].slot.and_then(|slot| self.slots.get_mut(slot));
        if let Some(slot) = slot {
            *slot = Some(Found::new(text));
        }
    }

    fn keep_shown(&mut self, value: impl fmt::Display) {
        if self.tree.nodes[self.at].slot.is_some() {
            self.keep(&value.to_string());
        }
    }

    /// Continues into a string if some pointer leads there. SNS and Pub/Sub wrap events like that.
    fn read_inside(self, text: &str) {
        let children = &self.tree.nodes[self.at].children;
        let Some((_, at)) = children.iter().find(|(name, _)| name == INSIDE) else { return };
        let json = match text.trim_start().as_bytes() {
            [b'{' | b'[', ..] => Cow::Borrowed(text.as_bytes()),
            packed => Cow::Owned(STANDARD.decode(packed).unwrap_or_default()),
        };
        let mut reader = serde_json::Deserializer::from_slice(&json);
        let _ = Take { tree: self.tree, at: *at, slots: self.slots }.deserialize(&mut reader);
    }

    fn note_other_key(&mut self, key: &str) {
        let Some((name, slot)) = &self.tree.other else { return };
        let slot = self.slots.get_mut(*slot).filter(|slot| self.at == 0 && slot.is_none() && key != name);
        if let Some(slot) = slot {
            *slot = Some(Found::new(key));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Take<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Take<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any JSON value")
    }

    fn visit_bool<E>(mut self, value: bool) -> Result<(), E> {
        self.keep_shown(value);
        Ok(())
    }

    fn visit_i64<E>(mut self, value: i64) -> Result<(), E> {
        self.keep_shown(value);
        Ok(())
    }

    fn visit_u64<E>(mut self, value: u64) -> Result<(), E> {
        self.keep_shown(value);
        Ok(())
    }

    fn visit_f64<E>(mut self, value: f64) -> Result<(), E> {
        self.keep_shown(value);
        Ok(())
    }

    fn visit_str<E>(mut self, value: &str) -> Result<(), E> {
        self.keep(value);
        self.read_inside(value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0usize.. {
            let node = &self.tree.nodes[self.at];
            let child = if node.children.is_empty() {
                None
            } else {
                node.children.iter().find(|(name, _)| name.parse() == Ok(index)).map(|(_, child)| *child)
            };
            let more = match child {
                Some(at) => {
                    list.next_element_seed(Take { tree: self.tree, at, slots: self.slots })?.is_some()
                }
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(Key { take: &mut self })? {
            match child {
                Some(at) => map.next_value_seed(Take { tree: self.tree, at, slots: self.slots })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Looks up a key without copying it.
struct Key<'k, 't> {
    take: &'k mut Take<'t>,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        self.take.note_other_key(key);
        let node = &self.take.tree.nodes[self.take.at];
        Ok(node.children.iter().find(|(name, _)| name == key).map(|(_, child)| *child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plucked(json: &str, pointers: &[&str]) -> Vec<Option<String>> {
        let mut tree = Tree::default();
        for (slot, pointer) in pointers.iter().enumerate() {
            assert!(tree.add(pointer, slot));
        }
        let mut slots = vec![None; pointers.len()];
        tree.pluck(json.as_bytes(), &mut slots);
        slots.into_iter().map(|found| found.map(|found| found.text)).collect()
    }

    #[test]
    fn values_are_found_by_pointer() {
        let json =
            r#"{"a":{"b":[1,{"c":"x"}],"skip":[[[]]]},"n":18446744073709551615,"t":true,"z":null,"a/b":"s"}"#;
        let found = plucked(json, &["/a/b/1/c", "/n", "/t", "/z", "/a~1b", "/a", "/nope"]);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [text("x"), text("18446744073709551615"), text("true"), None, text("s"), None, None]
        );
    }

    #[test]
    fn what_came_before_a_break_stays() {
        assert_eq!(plucked(r#"{"id":"e1","data":{"x":"#, &["/id", "/data/x"]), [Some("e1".to_owned()), None]);
        assert_eq!(plucked("not json", &["/id"]), [None]);
        assert_eq!(plucked("\u{feff}{\"id\":1}", &["/id"]), [Some("1".to_owned())]);
    }

    #[test]
    fn texts_that_are_json_themselves_are_read_on() {
        let json = r#"{"text":" {\"a\":[1,\"x\"]}","packed":"eyJhIjpbMSwieCJdfQ==","plain":"a"}"#;
        let pointers = ["/text/(json)/a/1", "/packed/(json)/a/1", "/plain/(json)/a/1", "/plain"];
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(plucked(json, &pointers), [text("x"), text("x"), None, text("a")]);
    }

    #[test]
    fn hostile_depth_does_no_harm() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(plucked(&deep, &["/0/0/0"]), [None]);
        let deep = format!("{{\"a\":{}1{},\"id\":2}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(plucked(&deep, &["/id"]), [Some("2".to_owned())]);
    }

    #[test]
    fn the_other_key_is_the_first_one_that_is_not_named() {
        let mut tree = Tree::default();
        tree.add_other_key("update_id", 0);
        let mut slots = [None];
        tree.pluck(br#"{"update_id":1,"message":{"x":1},"more":2}"#, &mut slots);
        assert_eq!(slots[0].as_ref().unwrap().text, "message");
    }
}
