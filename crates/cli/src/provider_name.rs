//! Finds providers by the names that users type.

use hookmitt_event::{Plain, nearest};
use hookmitt_verify::{Provider, provider, providers};

use crate::failure::CliError;

/// Returns the provider or adopter with this id in the catalogue.
///
/// # Errors
/// Fails if there is none. The hint names similar ids.
pub(crate) fn find(id: &str) -> Result<&'static Provider, CliError> {
    provider(id).ok_or_else(|| {
        let message = format!("there is no provider {}", Plain(id));
        let near = nearest(id, providers().map(|provider| provider.id.as_str()));
        CliError::bad_input_with("unknown-provider", message, format!("similar names: {}", near.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_provider_is_bad_input() {
        let error = find("githbu").unwrap_err();
        assert_eq!((error.code(), error.exit() as u8), ("unknown-provider", 2));
        assert!(error.hint().unwrap().contains("github"));
    }
}
