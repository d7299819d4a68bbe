//! Extracts the facts of an event from its request: id, type, time, object, subject.

use hookmitt_event::{Facts, GenericScheme, Request, Timestamp};

use crate::{fact_plan::FactPlan, generic, pluck::Found, provider::Provider, template::Template};

/// Longer ids and keys are ignored, because truncation could make two events look the same.
const LONGEST_NAME: usize = 512;

/// Extracts the facts of a request as the catalogue entry describes them. The generic scheme's own settings come first.
///
/// Malformed JSON is read up to the error. If the body is larger than 4 MiB, only the headers, the query and the method
/// are read.
pub fn facts(
    request: &Request,
    provider: Option<&'static Provider>,
    generic: Option<&GenericScheme>,
) -> Facts {
    let mut facts = provider.map(|provider| by_plan(request, &provider.plan)).unwrap_or_default();
    if let Some(plan) = generic.and_then(generic::plan) {
        let own = by_plan(request, &plan);
        facts.event_id = own.event_id.or(facts.event_id);
        facts.event_type = own.event_type.or(facts.event_type);
        facts.event_time = own.event_time.or(facts.event_time);
        facts.object = own.object.or(facts.object);
        facts.title = own.title.or(facts.title);
    }
    facts
}

fn by_plan(request: &Request, plan: &FactPlan) -> Facts {
    from_slots(plan, &plan.gather(request))
}

fn from_slots(plan: &FactPlan, slots: &[Option<Found>]) -> Facts {
    Facts {
        event_id: first_name(&plan.id, slots),
        event_type: first_name(&plan.kind, slots),
        title: plan.subject.write(slots),
        event_time: plan.time.iter().find_map(|text| moment(&text.fill(slots)?.text)),
        object: first_name(&plan.object, slots),
        handshake: None,
    }
}

fn first_name(texts: &[Template], slots: &[Option<Found>]) -> Option<String> {
    let name =
        |text: &Template| text.fill(slots).filter(|found| !found.cut && found.text.len() <= LONGEST_NAME);
    texts.iter().find_map(name).map(|found| found.text)
}

/// Parses RFC 3339, or a number of seconds or milliseconds since the epoch. Numbers from 10¹¹ on are milliseconds,
/// because 10¹¹ s would be the year 5138.
pub fn moment(text: &str) -> Option<Timestamp> {
    const FIRST_MILLISECONDS: i64 = 100_000_000_000;
    if let Ok(number) = text.parse::<i64>() {
        return match number {
            ..0 => None,
            FIRST_MILLISECONDS.. => number.checked_mul(1000).map(Timestamp::from_micros),
            seconds => Some(Timestamp::from_seconds(seconds)),
        };
    }
    // Slack and some others write seconds with a fraction.
    if let Some((seconds, fraction)) = text.split_once('.')
        && let Ok(seconds) = seconds.parse::<u32>()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
    {
        let micros: i64 = format!("{fraction:0<6.6}").parse().ok()?;
        return Some(Timestamp::from_micros(i64::from(seconds) * 1_000_000 + micros));
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_three_writings() {
        let at = Timestamp::from_seconds(1_750_000_000);
        let table = [
            ("1750000000", Some(at)),
            ("1750000000000", Some(at)),
            ("1750000000.5", Some(Timestamp::from_micros(1_750_000_000_500_000))),
            ("2025-06-15T15:06:40Z", Some(at)),
            ("2025-06-15T15:06:40.000000789+00:00", Some(at)),
            ("-1", None),
            ("soon", None),
        ];
        for (text, expected) in table {
            assert_eq!(moment(text), expected, "{text}");
        }
    }
}
