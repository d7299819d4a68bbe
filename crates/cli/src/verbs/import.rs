//! `hookmitt import`: reads fixture files into the inbox.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Plain, Slug};
use hookmitt_fixture::Fixture;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    terminal::{FAINT, Screen, Styled},
};

/// How many levels of folders are searched below a named folder.
const DEEPEST: usize = 32;

/// What `import` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fixture files, or folders to search for *.fixture.json
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The source that they go to; by default each fixture's own
    #[arg(long, value_name = "S")]
    source: Option<Slug>,
    /// Also deliver them to the source's targets
    #[arg(long)]
    forward: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct Imported {
    name: String,
    event_id: String,
    source: String,
    verdict: String,
    duplicate_of: Option<String>,
}

/// Imports the files one by one. If a file can't be imported, its error is printed and the others are still imported,
/// unless the inbox can't be reached or standard output is closed.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        let message = "no *.fixture.json files found";
        return Err(CliError::bad_input_with(
            "nothing-to-import",
            message,
            "name fixture files, or a folder that `export -o` wrote",
        ));
    }
    let mut exit = Exit::Success;
    for file in &files {
        match import(file, args, client, screen).await {
            Ok(()) => {}
            Err(error @ (CliError::ClosedPipe | CliError::Start(_) | CliError::Gone)) => return Err(error),
            Err(error) => {
                exit = exit.max(error.exit());
                screen.error(&error);
            }
        }
    }
    Ok(exit)
}

async fn import(file: &Path, args: &Args, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let content = fs::read(file).map_err(|source| CliError::file(file, source))?;
    let name = file.to_string_lossy();
    Fixture::parse(&content).map_err(|error| named(&name, &CliError::explained(&error)))?;
    let order = json!({
        "items": [{ "name": name, "content_base64": STANDARD.encode(content) }],
        "source": args.source,
        "forward": args.forward,
    });
    let imported: Items<Imported> = client.send(Method::POST, &Address::new(["import"]), &order).await?;
    imported
        .items
        .iter()
        .try_for_each(|one| if screen.json { screen.print_json(one) } else { screen.print(line(one)) })
}

/// Adds the name of the file to an error.
fn named(name: &str, error: &CliError) -> CliError {
    let message = format!("{}: {error}", Plain(name));
    CliError::BadInput { code: "bad-fixture", message, hint: error.hint() }
}

fn line(one: &Imported) -> String {
    let repeat =
        one.duplicate_of.as_ref().map_or(String::new(), |first| format!("  duplicate of {}", Plain(first)));
    let name = Styled(FAINT, Plain(&one.name));
    format!("{}  {}  {}{repeat}  {name}", Plain(&one.event_id), Plain(&one.source), Plain(&one.verdict))
}

/// Adds a file to `files` as it was named; for a folder, adds every `*.fixture.json` in it, each folder in the order of
/// its names. Symbolic links inside a folder are not followed, because they may lead out of it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let about = fs::metadata(path).map_err(|source| CliError::file(path, source))?;
    if about.is_dir() {
        return walk(path, 0, files);
    }
    files.push(path.to_owned());
    Ok(())
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let wrong = |source| CliError::file(folder, source);
    let mut entries = fs::read_dir(folder).map_err(wrong)?.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(wrong)?;
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() && entry.file_name().to_string_lossy().ends_with(".fixture.json") {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_walked_in_order_and_not_left() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("set/inner")).unwrap();
        for name in [
            "set/b.fixture.json",
            "set/a.fixture.json",
            "set/inner/c.fixture.json",
            "set/x.json",
            "out.fixture.json",
        ] {
            fs::write(at(name), "{}").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("out.fixture.json"), at("set/link.fixture.json")).unwrap();
        let mut files = Vec::new();
        collect(&at("set"), &mut files).unwrap();
        assert_eq!(files, ["set/a.fixture.json", "set/b.fixture.json", "set/inner/c.fixture.json"].map(at));
        assert_eq!(collect(&at("nowhere"), &mut files).unwrap_err().exit(), Exit::BadInput);
    }

    #[test]
    fn a_bad_file_is_named() {
        let error = Fixture::parse(b"{").unwrap_err();
        let error = named("a\u{1b}.fixture.json", &CliError::explained(&error));
        assert!(error.to_string().starts_with(r"a\u{1b}.fixture.json: "), "{error}");
    }
}
