//! How a text is read, told by how it is written again.

use hookmitt_search::{Query, Test};

use crate::events::now;

/// What is typed, and how it is written.
const READ: &[(&str, &str)] = &[
    ("", ""),
    ("  ", ""),
    ("Two  Words", "two words"),
    ("\"two words\"", "\"two words\""),
    ("two\" words\"", "\"two words\""),
    (r#""a \"b\" \\ \n""#, r#""a \"b\" \\ \\n""#),
    ("a,b", "a,b"),
    ("\"a,b\"", "\"a,b\""),
    ("Hello, world,", "\"hello,\" \"world,\""),
    (",", "\",\""),
    ("-", "\"-\""),
    ("a - b", "a \"-\" b"),
    ("--x", "-\"-x\""),
    ("-\"-x y\"", "-\"-x y\""),
    ("http://x", "\"http://x\""),
    ("-https://X/y", "-\"https://x/y\""),
    ("{\"a\":1}", "\"{a:1}\""),
    ("09:30", "\"09:30\""),
    ("#general", "\"#general\""),
    ("#12,x", "#12,x"),
    ("\"#12\"", "\"#12\""),
    ("#7..9", "#7..#9"),
    ("source:-x", "source:-x"),
    ("-source:shop,a*", "-source:shop,a*"),
    ("path:\"\"", "path:\"\""),
    ("path:/a\"*\"*", "path:\"/a*\"*"),
    ("type:\"a,b\",c", "type:\"a,b\",c"),
    ("target:http://localhost:3000", "target:http://localhost:3000"),
    ("path://a", "path://a"),
    ("verdict:*valid", "verdict:valid,invalid"),
    ("status:dead-letter,dead*", "status:dead_letter"),
    ("is:DUPLICATE", "is:duplicate"),
    ("HEADER.X-A:\"b c\"", "header.X-A:\"b c\""),
    ("body./a>5", "body./a:>5"),
    ("body./a:>=-1.50,<2", "body./a:>=-1.50,<2"),
    ("body./a:\">5\"", "body./a:\">5\""),
    ("body.\"/a:b c\":x", "body.\"/a:b c\":x"),
    ("body.\"/a\":x", "body./a:x"),
    ("body.html", "body.html"),
    ("header.php x", "header.php x"),
    ("size:>10kb,5..6", "size:>=10001,5..6"),
    ("response:5xx,404", "response:500..599,404"),
    ("latency:>=1500ms", "latency:>=1500ms"),
    ("after:2h", "after:2026-11-24T10:00:00.000000Z"),
    ("before:2026-11-21T00:00:00+01:00", "before:2026-11-20T23:00:00.000000Z"),
];

#[test]
fn a_search_is_read_and_written_in_one_way() {
    for &(typed, written) in READ {
        let query = Query::parse(typed, now()).unwrap_or_else(|error| panic!("{typed}: {error}"));
        assert_eq!(query.to_string(), written, "{typed}");
        let again = Query::parse(written, now()).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(again.to_string(), written);
    }
}

#[test]
fn a_term_knows_its_place_in_bytes() {
    let query = Query::parse("ö  -type:a,b \"c d\"", now()).unwrap();
    let places: Vec<_> = query.terms.iter().map(|term| term.place.clone()).collect();
    assert_eq!(places, [0..2, 4..13, 14..19]);
    assert!(query.terms[1].negated);
    assert!(matches!(&query.terms[2].any[..], [Test::Text(text)] if text.folded() == "c d"));
}
