//! A source's parameters: settings that its verdicts depend on and that its requests don't carry.

use std::collections::BTreeMap;

use hookmitt_inbox::SourceSettings;
use hookmitt_verify::provider;

use crate::EngineError;

/// How many parameters a source may have; more than any provider needs.
const MOST: usize = 32;
/// The longest name and the longest value, in bytes.
const LONGEST: usize = 4_096;

/// Sets the given parameters, and removes those that are given without a value. Removes all if `given` is `None`.
///
/// # Errors
/// Fails if the source's provider doesn't know a name (unless the source has its own scheme), or if there are too many
/// parameters or one is too long.
pub(crate) fn set_params(
    given: Option<BTreeMap<String, Option<String>>>,
    settings: &mut SourceSettings,
) -> Result<(), EngineError> {
    let Some(given) = given else {
        settings.params.clear();
        return Ok(());
    };
    for (name, value) in given {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            settings.params.remove(&name);
            continue;
        };
        if name.is_empty() || name.len() > LONGEST || value.len() > LONGEST {
            return Err(EngineError::BadInput(
                "a parameter needs a name, and may have at most 4 KiB".to_owned(),
            ));
        }
        check_name(&name, settings)?;
        check_scheme(&name, &value, settings)?;
        settings.params.insert(name, value);
    }
    if settings.params.len() > MOST {
        return Err(EngineError::BadInput(format!("a source can't have more than {MOST} parameters")));
    }
    Ok(())
}

/// Fails if the provider lacks the scheme that the parameter `scheme` names: the usual one would stay in force
/// unnoticed.
fn check_scheme(name: &str, value: &str, settings: &SourceSettings) -> Result<(), EngineError> {
    let provider = settings.provider.as_deref().and_then(provider).filter(|_| name == "scheme");
    let known = provider.is_none_or(|provider| provider.schemes.iter().any(|scheme| scheme.id == value));
    if known { Ok(()) } else { Err(EngineError::UnknownScheme(value.to_owned())) }
}

fn check_name(name: &str, settings: &SourceSettings) -> Result<(), EngineError> {
    let provider = settings.provider.as_deref().and_then(provider).filter(|_| settings.generic.is_none());
    let Some(provider) = provider else { return Ok(()) };
    if provider.params.iter().any(|known| known.name == name) {
        return Ok(());
    }
    Err(EngineError::UnknownParam {
        provider: provider.name.clone(),
        name: name.to_owned(),
        known: provider.params.iter().map(|known| known.name.as_str()).collect(),
    })
}
