//! `docs/search.md` says what the language is: its examples are searches, and its grammar has the words of the code.

use std::collections::BTreeSet;

use hookmitt_search::{Completion, Query, suggest};

use crate::events::now;

const PAGE: &str = include_str!("../../../../docs/search.md");

/// Returns the lines of the page's blocks of one kind.
fn blocks(kind: &str) -> Vec<&'static str> {
    let mut blocks = Vec::new();
    let mut rest = PAGE;
    while let Some((_, after)) = rest.split_once(&format!("```{kind}\n")) {
        let (block, after) = after.split_once("```").unwrap();
        blocks.extend(block.lines());
        rest = after;
    }
    blocks
}

/// Returns the grammar's rules, each with what it consists of.
fn rules() -> Vec<(&'static str, String)> {
    let mut rules: Vec<(&str, String)> = Vec::new();
    for line in blocks("abnf") {
        let line = line.split(" ; ").next().unwrap_or_default();
        match line.split_once(" =").map(|(name, rest)| (name.trim_end(), rest)) {
            Some((name, rest)) if !line.starts_with(' ') => rules.push((name, rest.to_owned())),
            _ => rules.iter_mut().last().into_iter().for_each(|(_, all)| all.push_str(line)),
        }
    }
    rules
}

/// Returns what stands in quotes in a rule.
fn literals(rule: &str) -> BTreeSet<String> {
    rule.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn literals_of(name: &str) -> BTreeSet<String> {
    rules().iter().find(|(rule, _)| *rule == name).map(|(_, all)| literals(all)).unwrap()
}

#[test]
fn every_example_is_a_search() {
    let examples = blocks("search");
    assert!(examples.len() > 40, "{examples:?}");
    for example in examples {
        Query::parse(example, now()).unwrap_or_else(|error| panic!("{example}: {error}"));
    }
}

#[test]
fn the_grammar_has_the_keys_of_the_code() {
    let Completion::Keys { keys } = suggest("", 0).what else { panic!("all keys") };
    let known: BTreeSet<_> = keys.iter().map(|hint| hint.key.to_owned()).collect();
    let written =
        rules().iter().filter(|(name, _)| name.ends_with("-key")).fold(BTreeSet::new(), |mut all, rule| {
            all.extend(literals(&rule.1).into_iter().filter(|literal| literal != ":"));
            all
        });
    assert_eq!(written, known);
    for key in known {
        assert!(PAGE.contains(&format!("`{}", key.trim_end_matches(':'))), "{key} is in the table");
    }
}

#[test]
fn the_grammar_has_the_fixed_words_of_the_code() {
    for (key, rule) in [("verdict:", "verdict"), ("status:", "status"), ("via:", "via"), ("is:", "mark")] {
        let Completion::Values { values } = suggest(key, key.len()).what else { panic!("{key} has values") };
        let known: BTreeSet<_> = values.iter().map(|value| (*value).to_owned()).collect();
        assert_eq!(literals_of(rule), known);
        for value in known {
            assert!(PAGE.contains(&format!("`{value}`")), "{value} is in the table");
        }
    }
}

#[test]
fn the_grammar_has_the_units_of_the_code() {
    for (key, rule) in [("size", "size"), ("latency", "latency"), ("after", "ago")] {
        for unit in literals_of(rule) {
            let text = format!("{key}:5{unit}");
            Query::parse(&text, now()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

#[test]
fn every_rule_of_the_grammar_is_there_and_is_used() {
    let rules = rules();
    let known: BTreeSet<_> = rules.iter().map(|(name, _)| *name).collect();
    assert_eq!(known.len(), rules.len(), "no rule is defined twice");
    let mut used = BTreeSet::from(["search".to_owned()]);
    for (_, rule) in &rules {
        let outside: String = rule.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '%');
        for word in outside.split(|letter: char| !is_name(letter)).filter(|word| !word.starts_with('%')) {
            used.insert(word.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned());
        }
    }
    for core in ["", "DQUOTE", "DIGIT", "ALPHA"] {
        used.remove(core);
    }
    assert_eq!(used, known.iter().map(|name| (*name).to_owned()).collect());
}
