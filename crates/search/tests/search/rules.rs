//! Rules, which look at the request only.

use hookmitt_search::Query;

use crate::events::Sample;

#[test]
fn a_rule_looks_at_the_request() {
    let rule =
        "type:invoice method:POST path:/pay/* header.User-Agent:stripe* body./a:1 size:<10kb -type:push";
    assert!(Query::parse_rule(rule).unwrap().matches(&Sample::new("{\"a\":1}").seen()));
}

#[test]
fn a_rule_can_use_nothing_else() {
    for (rule, column, said) in [
        (
            "type:push verdict:valid",
            11,
            "A rule can’t use verdict:. It looks at the request only: use type:, method:, path:,",
        ),
        ("-after:2h", 2, "A rule can’t use after:."),
        ("word", 1, "A rule can’t search the full text."),
        ("#12", 1, "A rule can’t search the full text."),
        ("source:shop", 1, "A rule can’t use source:."),
    ] {
        let fault = Query::parse_rule(rule).unwrap_err();
        assert_eq!(fault.column, column, "{rule}");
        assert!(fault.message.starts_with(said), "{}", fault.message);
    }
}
