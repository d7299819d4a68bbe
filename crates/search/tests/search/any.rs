//! What holds for any text.

use hookmitt_search::{Query, Term, outline, suggest};
use proptest::prelude::*;

use crate::events::{Sample, now};

/// Terms without their places.
fn terms(query: &Query) -> Vec<Term> {
    query.terms.iter().map(|term| Term { place: 0..0, ..term.clone() }).collect()
}

/// Texts that are queries more often than not.
fn typed() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just(""),
        Just("source:"),
        Just("type:"),
        Just("verdict:"),
        Just("via:"),
        Just("is:"),
        Just("path:"),
        Just("header.X-A:"),
        Just("body./a:"),
        Just("body.\"/a b\":"),
        Just("size:"),
        Just("response:"),
        Just("latency:"),
        Just("after:"),
        Just("#"),
    ];
    let value = prop_oneof![
        r#"[a-zA-Z0-9*"\\,.<>=#:/ÄİßK-]{1,8}"#,
        "\"[ -~ä\n]{0,8}\"",
        "[<>]?=?[0-9]{1,4}(kb|ms|xx|s)?",
        "valid|inv*|stale|tunnel",
        "[0-9]{1,3}\\.\\.#?[0-9]{1,3}",
    ];
    let term = ("-?", key, value).prop_map(|(sign, key, value)| format!("{sign}{key}{value}"));
    prop::collection::vec(term, 0..5).prop_map(|terms| terms.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_query_or_has_a_fault_in_it(text in ".{0,200}", caret in 0_usize..250) {
        if let Err(fault) = Query::parse(&text, now()) {
            prop_assert!(text.get(fault.place.clone()).is_some());
            prop_assert_eq!(fault.column, text[..fault.place.start].chars().count() + 1);
        }
        let shown = outline(&text, now());
        prop_assert!(shown.terms.iter().all(|term| text.get(term.place.clone()).is_some()));
        prop_assert!(text.get(suggest(&text, caret).place).is_some());
    }

    #[test]
    fn a_query_that_is_written_reads_as_the_same_query(text in typed()) {
        if let Ok(query) = Query::parse(&text, now()) {
            let written = query.to_string();
            let again = Query::parse(&written, now());
            prop_assert!(again.is_ok(), "{} became {}: {:?}", text, written, again);
            prop_assert_eq!(terms(&again.unwrap()), terms(&query), "{} became {}", text, written);
        }
    }

    #[test]
    fn a_negated_term_is_the_opposite_and_terms_are_joined_by_and(text in typed(), body in "[ab:{}\"1 ]{0,20}") {
        let sample = Sample::new(body);
        if let Ok(query) = Query::parse(&text, now()) {
            let single = |term: &Term, negated| Query { terms: vec![Term { negated, ..term.clone() }] };
            for term in &query.terms {
                let holds = |negated| single(term, negated).matches(&sample.seen());
                prop_assert_ne!(holds(true), holds(false), "{}", term);
            }
            let all = query.terms.iter().all(|term| single(term, term.negated).matches(&sample.seen()));
            prop_assert_eq!(query.matches(&sample.seen()), all);
        }
    }

    #[test]
    fn a_text_is_found_in_the_body_it_was_taken_from(before in ".{0,20}", text in "[^\\x00]{1,12}", after in ".{0,20}") {
        let sample = Sample::new(format!("{before}{text}{after}"));
        let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        prop_assert!(sample.is_found(&quoted), "{}", quoted);
    }
}
