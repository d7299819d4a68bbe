/// Returns a number with its noun, which gets an `s` unless the number is one: `1 event`, `2 events`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural_and_none_is() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "event")), ["0 events", "1 event", "2 events"]);
    }
}
