//! What the page shows of a search while it is typed.

use hookmitt_search::{Completion, Wanted, WordKey, outline, suggest};

use crate::events::now;

#[test]
fn an_outline_has_the_terms_as_they_were_typed() {
    let text = "-type:a,\"B c\" Zoë body.\"/x y\">5 verdict:wrong";
    let outline = outline(text, now());
    let terms: Vec<_> =
        outline.terms.iter().map(|term| (term.negated, term.key.as_deref(), term.value.as_str())).collect();
    let expected = [
        (true, Some("type:"), "a,\"B c\""),
        (false, None, "Zoë"),
        (false, Some("body.\"/x y\""), ">5"),
        (false, Some("verdict:"), "wrong"),
    ];
    assert_eq!(terms, expected);
    for term in &outline.terms {
        let typed = format!(
            "{}{}{}",
            if term.negated { "-" } else { "" },
            term.key.as_deref().unwrap_or(""),
            term.value
        );
        assert_eq!(text[term.place.clone()], typed);
    }
    assert_eq!(outline.fault.unwrap().column, 41);
}

#[test]
fn texts_that_must_be_there_are_marked() {
    assert_eq!(outline("Zoë -not a,b type:x", now()).marks, ["zoë", "a", "b"]);
}

/// Asks at the `|` in a text.
fn at(text: &str) -> Wanted {
    suggest(&text.replace('|', ""), text.find('|').unwrap())
}

fn keys(wanted: &Wanted) -> Vec<&str> {
    match &wanted.what {
        Completion::Keys { keys } => keys.iter().map(|hint| hint.key).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_begun_word_may_become_a_key() {
    assert_eq!(keys(&at("|")).len(), 18);
    assert_eq!(keys(&at("a  |")).len(), 18);
    let wanted = at("a -st|x");
    assert_eq!((keys(&wanted), wanted.place.clone()), (vec!["status:"], 3..6));
    assert_eq!(keys(&at("S|")), ["source:", "status:", "size:"]);
    assert_eq!(keys(&at("so|urce:x")), ["source:"]);
    assert_eq!(at("so|urce:x").place, 0..7);
    assert_eq!(at("zzz|").what, Completion::Free);
    assert_eq!(at("\"st|").what, Completion::Free);
}

#[test]
fn fixed_values_are_offered_and_words_are_looked_up() {
    let values = |wanted: Wanted| match wanted.what {
        Completion::Values { values } => (values, wanted.place),
        other => panic!("{other:?}"),
    };
    assert_eq!(values(at("verdict:in|")), (vec!["invalid"], 8..10));
    assert_eq!(values(at("via:direct,backup-|s x")), (vec!["backup_sync"], 11..19));
    assert_eq!(values(at("is:|")).0.len(), 9);
    let word = |key, prefix: &str, place| Wanted {
        place,
        what: Completion::Words { key, prefix: prefix.to_owned() },
    };
    assert_eq!(at("source:Sh|op"), word(WordKey::Source, "sh", 7..11));
    assert_eq!(at("-tag:a,\"My t|"), word(WordKey::Tag, "my t", 7..12));
    assert_eq!(at("size:|").what, Completion::Free);
    assert_eq!(at("sorce:|").what, Completion::Free);
}
