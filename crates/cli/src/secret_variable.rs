//! Reads secrets from environment variables.

use hookmitt_api::looks_like_variable;
use hookmitt_event::Plain;

use crate::failure::CliError;

/// Returns the value of an environment variable as a secret, byte for byte. Fails if the variable is not set or is
/// empty. The error doesn't repeat the name if that may be a secret.
pub(crate) fn secret_of(name: &str) -> Result<Vec<u8>, CliError> {
    let wrong = |message: String, hint: &str| CliError::bad_input_with("missing-variable", message, hint);
    if name.is_empty() || name.contains(['=', '\0']) {
        let message = "that can't be the name of an environment variable".to_owned();
        return Err(wrong(message, "give the variable's name, not its value"));
    }
    match std::env::var_os(name) {
        None if !looks_like_variable(name) => {
            let message = "there is no environment variable with that name".to_owned();
            Err(wrong(message, "give the variable's name, such as STRIPE_SECRET, not its value"))
        }
        None => {
            let message = format!("the environment variable {} is not set", Plain(name));
            Err(wrong(message, "set it to the secret and export it"))
        }
        Some(value) if value.is_empty() => {
            let message = format!("the environment variable {} is empty", Plain(name));
            Err(wrong(message, "set it to the secret"))
        }
        Some(value) => Ok(bytes_of(value)),
    }
}

/// Returns the label for a secret from this environment variable.
pub(crate) fn label_of(name: &str) -> String {
    format!("env:{name}")
}

#[cfg(unix)]
fn bytes_of(value: std::ffi::OsString) -> Vec<u8> {
    std::os::unix::ffi::OsStringExt::into_vec(value)
}

#[cfg(not(unix))]
fn bytes_of(value: std::ffi::OsString) -> Vec<u8> {
    value.to_string_lossy().into_owned().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    #[test]
    fn a_variable_that_is_not_set_is_bad_input() {
        for name in ["HOOKMITT_TEST_NOT_SET", "", "A=B"] {
            assert_eq!(secret_of(name).unwrap_err().exit(), Exit::BadInput, "{name}");
        }
        assert!(!secret_of("PATH").unwrap().is_empty());
    }

    #[test]
    fn promise_7_a_secret_given_instead_of_its_variable_is_not_repeated() {
        for secret in
            ["whsec_Planted", "planted", "8f14e45fceea167a5a36dedd4bea2543planted", "sk=planted", "PLANTED+"]
        {
            let error = secret_of(secret).unwrap_err();
            let said = format!("{error} {:?}", error.hint()).to_lowercase();
            assert!(!said.contains("planted") && said.contains("name, "), "{said}");
        }
        let named = secret_of("HOOKMITT_TEST_NOT_SET").unwrap_err();
        assert!(named.to_string().contains("HOOKMITT_TEST_NOT_SET"));
    }
}
