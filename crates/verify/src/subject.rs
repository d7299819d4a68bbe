//! Writes an event's subject: the short text after its type in lists. It is kept as the event's title.
//!
//! A provider's data says where money, number, title and who are. How they look is decided here, for all providers:
//! `€1,240.00 · Acme GmbH`, `#128 Fix the pump · octo/greenhouse`, `#1042 · $86.40 · Tomato seeds · Ada Lovelace`.

use std::borrow::Cow;

use serde::Deserialize;

use crate::{
    lookup::Lookup,
    money::{self, Decimals},
    place::PlaceError,
    plain,
    pluck::Found,
    template::Template,
};

/// The maximum length of a subject, in characters. Longer ones are truncated.
const LONGEST: usize = 120;

/// Where the parts of a provider's subjects are. In each list, the first template that says something wins: all its
/// places have a value, and none of them is an id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SubjectTemplates {
    pub(crate) money: Vec<MoneyTemplates>,
    /// How many decimals the provider's minor units have, where it differs from ISO 4217.
    pub(crate) decimals: Decimals,
    /// A number by which people know the object, such as an issue's.
    pub(crate) number: Vec<String>,
    pub(crate) title: Vec<String>,
    /// Who did it, or what it belongs to.
    pub(crate) who: Vec<String>,
    /// What is written if there is nothing else.
    pub(crate) otherwise: Vec<String>,
    /// Whether a person chose these places. Then an id is written, too.
    #[serde(skip)]
    pub(crate) is_chosen: bool,
}

/// Where an amount of money is, and its currency.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoneyTemplates {
    /// The amount in minor units, such as cents.
    minor: Option<String>,
    /// The amount in major units, such as euros. Only one of the two is given.
    major: Option<String>,
    currency: String,
}

/// Parsed [`SubjectTemplates`].
#[derive(Debug, Clone, Default)]
pub(crate) struct SubjectPlan {
    money: Vec<MoneyPlan>,
    decimals: Decimals,
    number: Vec<Template>,
    title: Vec<Template>,
    who: Vec<Template>,
    otherwise: Vec<Template>,
    is_chosen: bool,
}

#[derive(Debug, Clone)]
struct MoneyPlan {
    amount: Template,
    is_minor: bool,
    currency: Template,
}

impl SubjectPlan {
    pub(crate) fn new(texts: &SubjectTemplates, lookup: &mut Lookup) -> Result<Self, PlaceError> {
        let money = texts.money.iter().map(|money| MoneyPlan::new(money, lookup));
        Ok(Self {
            money: money.collect::<Result<_, _>>()?,
            decimals: texts.decimals.clone(),
            number: Template::parse_all(&texts.number, lookup)?,
            title: Template::parse_all(&texts.title, lookup)?,
            who: Template::parse_all(&texts.who, lookup)?,
            otherwise: Template::parse_all(&texts.otherwise, lookup)?,
            is_chosen: texts.is_chosen,
        })
    }

    /// Returns the subject as one line of at most [`LONGEST`] characters; `None` if nothing telling was found.
    pub(crate) fn write(&self, slots: &[Option<Found>]) -> Option<String> {
        let number = self.first(&self.number, slots, &[]).map(numbered);
        let money = self.money.iter().find_map(|money| money.write(slots, &self.decimals));
        let title = self.first(&self.title, slots, number.as_slice());
        let told: Vec<_> = [&number, &title].into_iter().flatten().cloned().collect();
        let who = self.first(&self.who, slots, &told);
        // A number names a title, but what has a price is a list: number, price, title.
        let named = match money {
            Some(_) => number.into_iter().chain(money).chain(title).collect(),
            None => vec![told.join(" ")],
        };
        let parts: Vec<_> = named.into_iter().chain(who).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return self.first(&self.otherwise, slots, &[]).map(|text| cut(&text));
        }
        Some(cut(&parts.join(" · ")))
    }

    /// Returns the first text that says something and hasn't been told yet.
    fn first(&self, texts: &[Template], slots: &[Option<Found>], told: &[String]) -> Option<String> {
        let telling = |value: &str| {
            let line = plain::line(value);
            let counts = if self.is_chosen { !line.is_empty() } else { plain::is_telling(&line) };
            counts.then_some(line)
        };
        let lines =
            texts.iter().filter_map(|text| text.fill_with(slots, |value| telling(value).map(Cow::Owned)));
        lines.map(|found| found.text).find(|text| !text.is_empty() && !told.contains(text))
    }
}

impl MoneyPlan {
    fn new(texts: &MoneyTemplates, lookup: &mut Lookup) -> Result<Self, PlaceError> {
        let (amount, is_minor) = match (&texts.minor, &texts.major) {
            (Some(amount), None) => (amount, true),
            (None, Some(amount)) => (amount, false),
            _ => return Err(PlaceError(texts.currency.clone())),
        };
        let currency = Template::parse(&texts.currency, lookup)?;
        Ok(Self { amount: Template::parse(amount, lookup)?, is_minor, currency })
    }

    fn write(&self, slots: &[Option<Found>], decimals: &Decimals) -> Option<String> {
        let (amount, currency) = (self.amount.fill(slots)?.text, self.currency.fill(slots)?.text);
        if self.is_minor {
            money::from_minor(&amount, &currency, decimals)
        } else {
            money::from_major(&amount, &currency)
        }
    }
}

/// Returns a number as people write it: `#128`. One that isn't of digits alone (`GRN-217`, `!42`) stays as it is.
fn numbered(number: String) -> String {
    if number.bytes().all(|byte| byte.is_ascii_digit()) { format!("#{number}") } else { number }
}

fn cut(subject: &str) -> String {
    let mut letters = subject.chars();
    let start: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_none() {
        return start;
    }
    let mut shorter: String = start.chars().take(LONGEST - 1).collect();
    shorter.push('…');
    shorter
}

#[cfg(test)]
mod tests {
    use hookmitt_event::{HeaderLines, HttpVersion, Request};

    use super::*;

    const SHOP: &str = r#"
        money = [{ minor = "{/cents}", currency = "{/currency}" }, { major = "{/total}", currency = "{/currency}" }]
        number = ["{/number}"]
        title = ["{/title}", "{/name}"]
        who = ["{/name}", "{/mail}"]
        otherwise = ["{/shop}"]
    "#;

    fn subject(body: &str) -> Option<String> {
        let mut lookup = Lookup::default();
        let plan = SubjectPlan::new(&toml::from_str(SHOP).unwrap(), &mut lookup).unwrap();
        let request = Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: HttpVersion::Http11,
            headers: HeaderLines::default(),
            body: body.to_owned().into(),
        };
        plan.write(&lookup.gather(&request))
    }

    #[test]
    fn parts_stand_in_one_order() {
        let table = [
            (r#"{"cents":124000,"currency":"eur","name":"Acme GmbH"}"#, Some("€1,240.00 · Acme GmbH")),
            (r#"{"number":128,"title":"Fix the pump","mail":"a@b.c"}"#, Some("#128 Fix the pump · a@b.c")),
            (r#"{"number":"GRN-7","title":"Fix"}"#, Some("GRN-7 Fix")),
            (
                r#"{"number":"1042","total":"86.4","currency":"USD","title":"Seeds"}"#,
                Some("#1042 · $86.40 · Seeds"),
            ),
            // What can't be read is left out.
            (r#"{"cents":"NaN","currency":"eur","mail":"a@b.c"}"#, Some("a@b.c")),
            (r#"{"title":{"a":"b"},"name":["x"],"shop":"s"}"#, Some("s")),
            // Nothing is told twice, and no id at all.
            (r#"{"title":"Acme","name":"Acme","mail":"a@b.c"}"#, Some("Acme · a@b.c")),
            (r#"{"title":"65f0a1b2c3d4e5f60718293a","name":"Zoë"}"#, Some("Zoë")),
            (r#"{"number":"1234560123453231555"}"#, None),
            ("{}", None),
        ];
        for (body, expected) in table {
            assert_eq!(subject(body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn a_long_subject_is_cut_between_letters() {
        let short = cut(&"ä".repeat(200));
        assert_eq!((short.chars().count(), short.ends_with('…')), (120, true));
    }
}
