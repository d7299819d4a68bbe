//! Who may drive the window from outside (Threat 10).

use std::ffi::OsStr;

/// What opens a webview to a WebDriver.
const DRIVEN: &str = "TAURI_WEBVIEW_AUTOMATION";

/// What tests say to keep it.
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
    in_development || flag.is_some_and(|flag| flag == "1")
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
    }
}
