//! The whole page: an introduction, a table of all providers, then each provider.

use crate::{
    files::{Provider, text},
    scheme,
    section::section,
    words::{self, code},
};

const OPENING: &str = "\
# Providers

<!-- Written from crates/verify/providers/*.toml by `UPDATE_PROVIDERS=1 cargo test -p hookmitt-verify providers_doc`. -->

What Hookmitt knows about each sender of webhooks: how it signs, how it is recognised, and what to watch out for.
A provider is a data file, and this page is generated from those files: to correct a fact, edit the file.

**Confirmed** means that the signature scheme was run with the provider's own code or read in its own documents;
**corroborated** that independent third parties agree on it, but it couldn't be checked with the provider. Each section
ends with the sources of its facts, and the facts that they don't confirm.

How to read the places: `{header:Name}` is a header, `{/a/b}` a JSON pointer into the body, `{form:x}` and `{query:x}`
are fields of the form and of the query, `{xml:x}` is an element; `(json)` goes into a string that is itself JSON. `{body}`, `{timestamp}`, `{id}`, `{url}`, `{method}` and
`{path_query}` are the request as received, byte for byte. If there are several texts, the first one counts whose places are all
present.

";

pub(crate) fn page(providers: &[Provider]) -> String {
    let sections: Vec<_> = providers.iter().map(section).collect();
    format!("{OPENING}{}\n{}", summary(providers), sections.join("\n"))
}

fn summary(providers: &[Provider]) -> String {
    let schemes: usize = providers.iter().map(|provider| provider.schemes().len()).sum();
    let sure = providers.iter().filter(|provider| provider.is_confirmed()).count();
    let mut out = format!(
        "{} providers with {schemes} schemes; {sure} are confirmed.\n\n\
         | provider | `--provider` | signs with | signature in | confidence |\n|---|---|---|---|---|\n",
        providers.len()
    );
    providers.iter().for_each(|provider| out.push_str(&row(provider)));
    out
}

fn row(provider: &Provider) -> String {
    let schemes = provider.schemes();
    let each = |words: fn(&toml::Table) -> String| {
        let mut words: Vec<_> = schemes.iter().map(|scheme| words(scheme)).collect();
        words.dedup();
        words.join("; ")
    };
    words::row(&[
        format!("[{}](#{})", provider.name(), anchor(provider.name())),
        code(&provider.id),
        each(scheme::made_with),
        each(scheme::stands),
        text(&provider.table, "confidence").to_owned(),
    ])
}

/// Returns the anchor that GitHub gives a heading.
pub(crate) fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}
