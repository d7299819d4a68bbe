//! The header lines that hookmitt adds, and the names that servers may take for theirs.

/// How the names of hookmitt's own header lines begin.
const OURS: &str = "x-hookmitt-";

/// Returns whether some server reads one name as the other. CGI and its successors (WSGI, Rack, PHP) replace every
/// character that is not a letter or digit with the same one, so they read `X_Hookmitt.Verdict` as
/// `X-Hookmitt-Verdict`.
pub fn reads_as(name: &str, other: &str) -> bool {
    let same = |(a, b): (u8, u8)| {
        a.eq_ignore_ascii_case(&b) || !(a.is_ascii_alphanumeric() || b.is_ascii_alphanumeric())
    };
    name.len() == other.len() && name.bytes().zip(other.bytes()).all(same)
}

/// Returns whether some server reads this name as that of a line that hookmitt adds. A sender's line with such a name
/// proves nothing and is never forwarded.
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
        // Every character that is allowed in a name, in both places.
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
