//! A source's parameters: what its verdicts depend on and no request says.

use std::collections::BTreeMap;

use hookmitt_inbox::SourceSettings;
use hookmitt_verify::provider;

use crate::EngineError;

/// More than any provider needs.
const MOST: usize = 32;
/// In bytes, of a name and of a value.
const LONGEST: usize = 4_096;

/// Sets those that are given, and unsets those that are given without a value; without a list, all.
///
/// # Errors
/// A name that the source's provider doesn't know, unless it signs in a way of its own; too many, or too long ones.
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
            return Err(EngineError::BadInput("a parameter needs a name, and 4 KiB at most".to_owned()));
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

/// A scheme that the provider doesn't have would leave the usual one in force, unseen.
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
