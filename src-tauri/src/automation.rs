//! Decides whether a WebDriver may control the window (Threat 10).

use std::ffi::OsStr;

/// The environment variable that lets a WebDriver control the webview.
const DRIVEN: &str = "TAURI_WEBVIEW_AUTOMATION";

/// The environment variable that tests set: `1` keeps [`DRIVEN`]; `0` removes it in a development build too.
const TESTED: &str = "HOOKMITT_TEST_AUTOMATION";

/// In a release, removes [`DRIVEN`] from the environment, so that setting it alone opens the window to nobody.
/// [`TESTED`] overrides this. Must be called before any thread starts.
pub(crate) fn clear() {
    if may_be_driven(cfg!(debug_assertions), std::env::var_os(TESTED).as_deref()) {
        return;
    }
    #[expect(unsafe_code, reason = "the standard library has no other way")]
    // SAFETY: no other thread runs yet that could read the environment.
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
