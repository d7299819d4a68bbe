//! `hookmitt doctor`: checks the installation, and says what to do about each problem.

use std::path::Path;

use hookmitt_catch::bind;
use hookmitt_event::Plain;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    terminal::{BAD, FAINT, GOOD, Screen, Styled},
};

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Mend what is wrong with hookmitt's own files, claims and index
    #[arg(long)]
    fix: bool,
    /// The capture port to look at where no hookmitt is running
    #[arg(long, value_name = "PORT", default_value_t = 4400)]
    port: u16,
    /// The API's port to look at where no hookmitt is running
    #[arg(long, value_name = "PORT", default_value_t = 4401)]
    api_port: u16,
}

/// The result of a check.
#[derive(Debug, Serialize, Deserialize)]
struct Check {
    name: String,
    ok: bool,
    message: String,
    hint: Option<String>,
    /// Whether `--fix` does something about it.
    #[serde(default)]
    fixable: bool,
    /// Whether `--fix` has done so; absent unless it tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fixed: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Checks {
    /// The version of the hookmitt that checked; earlier ones don't say.
    version: Option<String>,
    checks: Vec<Check>,
}

/// Prints a line for each check, after mending what can be mended if that is asked for. It also works without an inbox, because an inbox that can't be opened is a finding.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let (mut checks, mut worst) = (Vec::new(), Exit::Success);
    let shown = data_dir.to_string_lossy();
    match look(data_dir, args.fix).await {
        Ok((attached, Checks { version, checks: found })) => {
            let who = if attached { "used by a running hookmitt" } else { "hookmitt isn't running" };
            checks.push(passed("data directory", format!("{shown}, {who}")));
            checks.extend(found);
            checks.extend(other_version(version.as_deref()));
            if !attached {
                checks.extend([
                    free("capture port", args.port, "--port"),
                    free("API port", args.api_port, "--api-port"),
                ]);
            }
        }
        Err(error) => {
            worst = Exit::Unreached;
            let hint = error.hint();
            checks.push(Check { ok: false, hint, ..passed("data directory", format!("{shown}: {error}")) });
        }
    }
    if checks.iter().any(|check| !check.ok) {
        worst = worst.max(Exit::No);
    }
    for check in &checks {
        if screen.json { screen.print_json(check)? } else { screen.print(line(check, args.fix))? }
    }
    Ok(worst)
}

/// Prints what is wrong, for example what is needed after a backup was restored.
pub(crate) async fn needs(data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let (_, found) = look(data_dir, false).await?;
    for check in found.checks.iter().filter(|check| !check.ok) {
        if screen.json { screen.print_json(check)? } else { screen.note(line(check, false)) }
    }
    Ok(Exit::Success)
}

/// Returns whether another process answered, and what was found.
async fn look(data_dir: &Path, fix: bool) -> Result<(bool, Checks), CliError> {
    let client = Client::open(data_dir).await?;
    let attached = client.is_attached();
    let found: Result<Checks, CliError> = if fix {
        client.send(Method::POST, &Address::new(["doctor", "fix"]), &Value::Null).await
    } else {
        client.get(&Address::new(["doctor"])).await
    };
    client.close().await;
    Ok((attached, found?))
}

fn passed(name: &str, message: String) -> Check {
    Check { name: name.to_owned(), ok: true, message, hint: None, fixable: false, fixed: None }
}

/// Checks that nobody listens on a port that `serve` needs.
fn free(name: &str, port: u16, flag: &str) -> Check {
    match bind(None, port) {
        Ok(_) => passed(name, format!("{port} is free")),
        Err(error) => {
            let hint = Some(format!("stop it, or choose another port with `hookmitt serve {flag} PORT`"));
            Check { ok: false, hint, ..passed(name, error.to_string()) }
        }
    }
}

/// Reports that the hookmitt that runs isn't the one of this command.
fn other_version(found: Option<&str>) -> Option<Check> {
    let ours = env!("CARGO_PKG_VERSION");
    let found = found.filter(|found| *found != ours)?;
    let message = format!("hookmitt {found} is running, and this command is {ours}");
    let hint = Some("stop the one that runs, and start it again".to_owned());
    Some(Check { ok: false, hint, ..passed("version", message) })
}

/// Returns the text for a check; `fix` says whether mending was asked for.
fn line(check: &Check, fix: bool) -> String {
    let mark = match check {
        Check { fixed: Some(true), .. } => Styled(GOOD, "fixed"),
        Check { ok: true, .. } => Styled(GOOD, "ok   "),
        Check { ok: false, .. } => Styled(BAD, "bad  "),
    };
    let line = format!("{mark} {}: {}", Plain(&check.name), Plain(&check.message));
    let hint = check.hint.as_ref().map(|hint| match check.ok {
        false if fix && check.fixed.is_none() => format!("can't be fixed here: {hint}"),
        _ => hint.clone(),
    });
    match hint {
        Some(hint) => format!("{line}\n      {}", Styled(FAINT, Plain(&hint))),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_what_to_do() {
        let check =
            Check { ok: false, hint: Some("make room".to_owned()), ..passed("disk", "full\u{7}".to_owned()) };
        let plain = |check: &Check, fix| anstream::adapter::strip_str(&line(check, fix)).to_string();
        assert_eq!(plain(&check, false), "bad   disk: full\\u{7}\n      make room");
        assert_eq!(plain(&check, true), "bad   disk: full\\u{7}\n      can't be fixed here: make room");
        let failed = Check { fixed: Some(false), ..check };
        assert_eq!(plain(&failed, true), "bad   disk: full\\u{7}\n      make room");
        let fixed = Check { fixed: Some(true), ..passed("leftovers", "a file".to_owned()) };
        assert_eq!(plain(&fixed, true), "fixed leftovers: a file");
    }

    #[test]
    fn another_version_that_runs_is_a_finding() {
        let found = other_version(Some("9.9.9")).unwrap();
        assert!(!found.ok && found.message.contains("9.9.9"));
        assert!(other_version(Some(env!("CARGO_PKG_VERSION"))).is_none());
        assert!(other_version(None).is_none());
    }
}
