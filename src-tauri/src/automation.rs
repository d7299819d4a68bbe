//! Who may drive the window from outside (Threat 10).

use std::ffi::OsStr;

/// What opens a webview to a WebDriver.
const DRIVEN: &str = "TAURI_WEBVIEW_AUTOMATION";

/// What tests say: `1` keeps it, `0` clears it in a development build, too.
const TESTED: &str = "HOOKMITT_TEST_AUTOMATION";

/// A release opens its window to nobody who merely sets a variable. To be called before any thread starts.
pub(crate) fn clear() {
    if may_be_driven(cfg!(debug_assertions), std::env::var_os(TESTED).as_deref()) {
        return;
    }
    #[expect(unsafe_code, reason = "the standard library has no other way")]
    // SAFETY: nothing else runs yet that could read the environment.
    unsafe {
        std::env::remove_var(DRIVEN);
    }
}

fn may_be_driven(in_development: bool, flag: Option<&OsStr>) -> bool {
    flag.map_or(in_development, |flag| flag == "1" || in_development && flag != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_10_a_release_is_not_driven_unless_a_test_says_so() {
        assert!(!may_be_driven(false, None));
        assert!(!may_be_driven(false, Some(OsStr::new(""))));
        assert!(!may_be_driven(false, Some(OsStr::new("true"))));
        assert!(may_be_driven(false, Some(OsStr::new("1"))));
        assert!(may_be_driven(true, None));
        assert!(may_be_driven(true, Some(OsStr::new("1"))));
        assert!(!may_be_driven(true, Some(OsStr::new("0"))), "as a release is");
    }
}
