//! What is said of a text that is no query.

use hookmitt_event::Explain as _;
use hookmitt_search::{Query, SearchError};

use crate::events::now;

fn fault(text: &str) -> SearchError {
    Query::parse(text, now()).map(|query| panic!("{text} reads as {query:?}")).unwrap_err()
}

#[test]
fn the_first_fault_is_told_with_its_column() {
    for (typed, column, said) in [
        (
            "verdict:wrong",
            9,
            "No verdict is called ‘wrong’. Use valid, invalid, unsigned, no_secret, unsupported or pending.",
        ),
        ("ö verdict:wrong x:y", 11, "No verdict is called ‘wrong’."),
        ("status:valid,done", 8, "No status is called ‘valid’. Use dead_letter, failed, processing,"),
        ("status:failed,done", 15, "No status is called ‘done’."),
        ("via:mail", 5, "No way in is called ‘mail’. Use direct, tunnel, backup_sync, import, send or edit."),
        ("is:x*", 4, "No mark is called ‘x*’. Use duplicate, first, conflict,"),
        ("is:\"stal*\"", 4, "No mark is called ‘stal*’."),
        ("sorce:shop", 1, "There is no filter ‘sorce:’. Did you mean source:?"),
        ("a -headr.x:y", 4, "There is no filter ‘headr.x:’."),
        ("Content-Type:json", 1, "There is no filter ‘Content-Type:’."),
        ("localhost:3000", 1, "There is no filter ‘localhost:’."),
        ("type:", 6, "A value is missing after ‘type:’."),
        ("type:a,,b", 8, "A value is missing after ‘type:’."),
        ("a \"b c", 3, "The quotes that open here aren’t closed."),
        ("type:\"b c", 6, "The quotes that open here aren’t closed."),
        ("body.\"/a b", 6, "The quotes that open here aren’t closed."),
        ("a \"\"", 3, "There is nothing between the quotes."),
        ("header.:x", 1, "‘’ is no header name."),
        ("header.a(b):x", 1, "‘a(b)’ is no header name."),
        ("body.data.id:7", 1, "‘data.id’ is no JSON pointer. Write it like body./data/object/id:."),
        ("body./a~2:7", 1, "‘/a~2’ is no JSON pointer."),
        ("body./a:>x", 9, "‘x’ is no number."),
        ("size:big", 6, "‘big’ is no size. Write it like >10kb, 512 or 1kb..2mb."),
        ("size:<0", 6, "Nothing is ‘<0’."),
        ("response:5yy", 10, "‘5yy’ is no status of an answer."),
        ("latency:5", 9, "‘5’ is no length of time."),
        ("after:soon", 7, "‘soon’ is no time. Write it like 2h, today, yesterday, 09:30,"),
        ("#9..#7", 1, "‘#9..#7’ runs backwards. Write the smaller number first."),
    ] {
        let fault = fault(typed);
        assert_eq!(fault.column, column, "{typed}: {fault:?}");
        assert!(fault.message.starts_with(said), "{typed}: {}", fault.message);
        assert!(typed.is_char_boundary(fault.place.start) && typed.is_char_boundary(fault.place.end));
        assert_eq!(fault.code(), "bad-search");
    }
}

#[test]
fn a_search_is_bounded() {
    let a = |count: usize| vec!["a"; count];
    assert!(Query::parse(&a(64).join(" "), now()).is_ok());
    assert_eq!(fault(&a(65).join(" ")).column, 129);
    let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    assert!(Query::parse(&numbers(64), now()).is_ok());
    assert_eq!(fault(&numbers(65)).column, 1);
    assert_eq!(fault(&["is:*"; 8].join(" ")).column, 36, "nine marks each");
    assert!(Query::parse(&"ö".repeat(500), now()).is_ok());
    let long = fault(&"ö".repeat(501));
    assert_eq!((long.column, long.message.as_str()), (501, "The search is longer than 1,000 bytes."));
}

#[test]
fn threat_2_a_hostile_search_is_escaped_where_it_is_repeated() {
    for text in [
        "verdict:\u{1b}[2J\u{202e}x",
        "size:\u{1b}[2J\u{202e}x",
        "body.\u{1b}[2J\u{202e}x:1",
        "header.\u{1b}[2J\u{202e}x:1",
    ] {
        let message = fault(text).message;
        assert!(message.contains(r"\u{1b}[2J\u{202e}x"), "{message}");
        assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message}");
    }
    let long = fault(&format!("verdict:{}", "x".repeat(900))).message;
    assert!(long.chars().count() < 200, "{long}");
}
