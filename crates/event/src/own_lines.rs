//! The header lines that hookmitt writes itself, and what servers may take for them.

/// What the names of our own lines begin with.
const OURS: &str = "x-hookmitt-";

/// Whether some server reads one name as the other. CGI and all that came after it (WSGI, Rack, PHP) put one sign in
/// the place of whatever is no letter or digit, so to them `X_Hookmitt.Verdict` is `X-Hookmitt-Verdict`.
pub fn reads_as(name: &str, other: &str) -> bool {
    let same = |(a, b): (u8, u8)| {
        a.eq_ignore_ascii_case(&b) || !(a.is_ascii_alphanumeric() || b.is_ascii_alphanumeric())
    };
    name.len() == other.len() && name.bytes().zip(other.bytes()).all(same)
}

/// Whether some server reads a name as that of a line that hookmitt writes. Such a line proves nothing when a sender
/// wrote it, and is never handed on.
pub fn is_ours(name: &str) -> bool {
    name.get(..OURS.len()).is_some_and(|start| reads_as(start, OURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_4_a_name_that_a_server_reads_as_ours_is_ours() {
        for name in [
            "x-hookmitt-verdict",
            "X-Hookmitt-Verdict",
            "X_Hookmitt_Verdict",
            "x_hookmitt-verdict",
            "X-HOOKMITT_VERDICT",
            "x.hookmitt.verdict",
            "x~hookmitt|verdict",
            "X!Hookmitt#x",
            "x_hookmitt_",
        ] {
            assert!(is_ours(name), "{name}");
        }
        // Every sign that a name may have, in both places.
        for sign in "!#$%&'*+-.^_`|~".chars() {
            assert!(is_ours(&format!("X{sign}Hookmitt{sign}Verdict")), "{sign}");
        }
        for name in
            ["x-hookmitt", "xhookmitt-verdict", "x--hookmitt-verdict", "x-hookmitty-a", "my-x-hookmitt-a", ""]
        {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn names_are_read_alike_in_whole_only() {
        assert!(reads_as("X_HOOKMITT_DELIVERY.ID", "x-hookmitt-delivery-id"));
        assert!(!reads_as("x-hookmitt-delivery-ids", "x-hookmitt-delivery-id"));
        assert!(!reads_as("x-hookmitt-delivery0id", "x-hookmitt-delivery-id"));
    }
}
