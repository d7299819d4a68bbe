//! `hookmitt doctor`: checks the installation, and says what to do about each problem.

use std::path::Path;

use hookmitt_catch::bind;
use hookmitt_event::Plain;
use serde::{Deserialize, Serialize};

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    terminal::{BAD, FAINT, GOOD, Screen, Styled},
};

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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
}

#[derive(Debug, Deserialize)]
struct Checks {
    checks: Vec<Check>,
}

/// Prints a line for each check. It also works without an inbox, because an inbox that can't be opened is a finding.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let (mut checks, mut worst) = (Vec::new(), Exit::Success);
    let shown = data_dir.to_string_lossy();
    match look(data_dir).await {
        Ok((attached, found)) => {
            let who = if attached { "used by a running hookmitt" } else { "hookmitt isn't running" };
            checks.push(passed("data directory", format!("{shown}, {who}")));
            checks.extend(found);
            if !attached {
                checks.extend([
                    free("capture port", args.port, "--port"),
                    free("API port", args.api_port, "--api-port"),
                ]);
            }
        }
        Err(error) => {
            worst = Exit::Unreached;
            checks.push(Check {
                name: "data directory".to_owned(),
                ok: false,
                message: format!("{shown}: {error}"),
                hint: error.hint(),
            });
        }
    }
    if checks.iter().any(|check| !check.ok) {
        worst = worst.max(Exit::No);
    }
    for check in &checks {
        if screen.json { screen.print_json(check)? } else { screen.print(line(check))? }
    }
    Ok(worst)
}

/// Prints what is wrong, for example what is needed after a backup was restored.
pub(crate) async fn needs(data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let (_, found) = look(data_dir).await?;
    for check in found.iter().filter(|check| !check.ok) {
        if screen.json { screen.print_json(check)? } else { screen.note(line(check)) }
    }
    Ok(Exit::Success)
}

async fn look(data_dir: &Path) -> Result<(bool, Vec<Check>), CliError> {
    let client = Client::open(data_dir).await?;
    let attached = client.is_attached();
    let found: Result<Checks, CliError> = client.get(&Address::new(["doctor"])).await;
    client.close().await;
    Ok((attached, found?.checks))
}

fn passed(name: &str, message: String) -> Check {
    Check { name: name.to_owned(), ok: true, message, hint: None }
}

/// Checks that nobody listens on a port that `serve` needs.
fn free(name: &str, port: u16, flag: &str) -> Check {
    match bind(None, port) {
        Ok(_) => passed(name, format!("{port} is free")),
        Err(error) => Check {
            name: name.to_owned(),
            ok: false,
            message: error.to_string(),
            hint: Some(format!("stop it, or choose another port with `hookmitt serve {flag} PORT`")),
        },
    }
}

fn line(check: &Check) -> String {
    let mark = if check.ok { Styled(GOOD, "ok  ") } else { Styled(BAD, "bad ") };
    let line = format!("{mark}  {}: {}", Plain(&check.name), Plain(&check.message));
    match &check.hint {
        Some(hint) => format!("{line}\n      {}", Styled(FAINT, Plain(hint))),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_what_to_do() {
        let check = Check {
            name: "disk".to_owned(),
            ok: false,
            message: "full\u{7}".to_owned(),
            hint: Some("make room".to_owned()),
        };
        let line = anstream::adapter::strip_str(&line(&check)).to_string();
        assert_eq!(line, "bad   disk: full\\u{7}\n      make room");
    }
}
