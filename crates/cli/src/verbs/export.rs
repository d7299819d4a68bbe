//! `hookmitt export`: writes events to fixture files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hookmitt_api::EventJson;
use hookmitt_event::{Plain, Slug, counted};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    by_search::BySearch,
    client::{Address, Client, Items},
    event_ref::EventRef,
    failure::{CliError, Exit},
    private_file,
    terminal::{ODD, Screen, Styled},
};

/// How many events are fetched at a time; each comes with its body.
const PIECE: usize = 20;

/// The code of an event that was signed with one of the owner's secrets and can't be signed again with another one.
const KEPT_BACK: &str = "own-signature";

/// What `export` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<EventRef>,
    #[command(flatten)]
    by_search: BySearch,
    /// All events of this source
    #[arg(long, value_name = "S", group = "which")]
    source: Option<Slug>,
    /// The format of the files
    #[arg(long, value_enum, default_value_t = Format::Fixture)]
    format: Format,
    /// Export the exact bytes, including any secrets in them; only you can read the files
    #[arg(long)]
    pub(crate) raw: bool,
    /// The file for one event, or the folder for several
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// The formats of this version.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON file per event, made for git and for `import`
    Fixture,
}

#[derive(Debug, Deserialize, Serialize)]
struct Exported {
    name: String,
    event_id: String,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_anew: Option<String>,
}

/// Where the files are written.
enum Output<'a> {
    Stdout,
    File(&'a Path),
    Folder(&'a Path),
}

/// Says that redaction is not available yet.
pub(crate) fn redaction_missing() -> CliError {
    CliError::bad_input_with(
        "redaction-missing",
        "export can't redact yet; a later version will",
        "--raw exports the exact bytes, including tokens and personal data: share the files only with people you \
         trust",
    )
}

/// Writes the files.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if !args.raw {
        return Err(redaction_missing());
    }
    if let Some(search) = &args.by_search.search
        && !args.by_search.is_meant(search, search, "Export", client, screen).await?
    {
        return Ok(Exit::No);
    }
    let place = args.place()?;
    if let Output::Folder(folder) = place {
        std::fs::create_dir_all(folder).map_err(|source| CliError::file(folder, source))?;
    }
    let all = args.all(client).await?;
    warn(&place, screen);
    let mut out = Out { place: &place, client, screen, written: 0, kept_back: 0 };
    if let Some(all) = all {
        let mut cursor: Option<String> = None;
        loop {
            let page = all.clone().with("limit", Some(PIECE.to_string())).with("cursor", cursor);
            let page: Items<EventJson> = client.get(&page).await?;
            let ids: Vec<_> = page.items.iter().map(|event| event.id.to_string()).collect();
            out.write_many(&ids).await?;
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    } else {
        let ids: Vec<_> = EventRef::ids(&args.ids, client).await?.iter().map(ToString::to_string).collect();
        for piece in ids.chunks(PIECE) {
            out.write_many(piece).await?;
        }
    }
    Ok(out.end())
}

/// Warns on standard error about what the files contain, for whoever passes them on.
fn warn(place: &Output<'_>, screen: &Screen) {
    let what = "--raw redacts nothing: signatures, tokens and cookies in header lines and personal data in bodies \
                are exported as they are";
    let how = match place {
        Output::Stdout => "; -o PATH writes a file that only you can read",
        Output::File(_) | Output::Folder(_) => "; share the files only with people you trust",
    };
    screen.note(format_args!("{} {what}{how}", Styled(ODD, "warning:")));
}

/// Where the files go, and what became of the events so far.
struct Out<'a> {
    place: &'a Output<'a>,
    client: &'a Client,
    screen: &'a Screen,
    written: u64,
    /// How many events could not be exported.
    kept_back: u64,
}

impl Out<'_> {
    /// Writes events. One of several that can't be exported is named, and the others are written.
    async fn write_many(&mut self, ids: &[String]) -> Result<(), CliError> {
        match self.write(ids).await {
            Err(CliError::Problem(problem)) if problem.code == KEPT_BACK && ids.len() > 1 => {}
            done => return done,
        }
        for id in ids {
            match self.write(std::slice::from_ref(id)).await {
                Err(CliError::Problem(problem)) if problem.code == KEPT_BACK => {
                    self.screen.note(format_args!("{}", Plain(&problem.detail)));
                    self.kept_back += 1;
                }
                done => done?,
            }
        }
        Ok(())
    }

    async fn write(&mut self, ids: &[String]) -> Result<(), CliError> {
        if ids.is_empty() {
            return Ok(());
        }
        let order = json!({ "ids": ids, "format": "fixture", "raw": true });
        let exported: Items<Exported> =
            self.client.send(Method::POST, &Address::new(["export"]), &order).await?;
        for one in &exported.items {
            self.write_one(one)?;
            self.written += 1;
        }
        Ok(())
    }

    fn write_one(&self, one: &Exported) -> Result<(), CliError> {
        let screen = self.screen;
        if let Some(secret) = &one.signed_anew {
            screen.note(format_args!(
                "{}: it was signed with one of your secrets, and such signatures aren't exported; it is re-signed \
                 with the public test secret {}",
                Plain(&one.event_id),
                Plain(secret)
            ));
        }
        let path = match self.place {
            Output::Stdout if screen.json => return screen.print_json(one),
            Output::Stdout => return screen.print_bytes(one.content.as_bytes()),
            Output::File(path) => path.to_path_buf(),
            Output::Folder(folder) => folder.join(safe_name(&one.name, &one.event_id)),
        };
        private_file::write(&path, one.content.as_bytes()).map_err(|source| CliError::file(&path, source))?;
        if screen.json {
            screen.print_json(&json!({ "event_id": one.event_id, "path": path.to_string_lossy() }))?;
        }
        Ok(())
    }

    /// Says what was written, and how the command ends: with "no" if some events could not be exported.
    fn end(self) -> Exit {
        if let Output::File(path) | Output::Folder(path) = self.place {
            let files = counted(self.written, "file");
            self.screen.note(format_args!("wrote {files}: {}", Plain(&path.to_string_lossy())));
        }
        if self.kept_back == 0 {
            return Exit::Success;
        }
        self.screen.note(format_args!("{} could not be exported", counted(self.kept_back, "event")));
        Exit::No
    }
}

/// Makes a file name that stays in its folder and has only ASCII letters, digits, `.`, `_` and `-`, whatever text it is
/// made of.
fn safe_name(name: &str, event_id: &str) -> String {
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    let name = name.strip_suffix(".fixture.json").unwrap_or(name);
    let name: String = name.trim_start_matches('.').chars().take(120).map(plain).collect();
    let name = if name.is_empty() { event_id.chars().map(plain).collect() } else { name };
    format!("{name}.fixture.json")
}

impl Args {
    /// Returns the list of all that is to be exported; `None` if single events were named.
    async fn all(&self, client: &Client) -> Result<Option<Address>, CliError> {
        let events = Address::new(["events"]);
        if let Some(source) = &self.source {
            let _exists: serde_json::Value = client.get(&Address::new(["sources", source.as_str()])).await?;
            return Ok(Some(events.with("source", Some(source.as_str()))));
        }
        let Some(search) = &self.by_search.search else { return Ok(None) };
        Ok(Some(events.with("q", Some(search.as_str()))))
    }

    fn place(&self) -> Result<Output<'_>, CliError> {
        let several = self.source.is_some() || self.by_search.search.is_some() || self.ids.len() > 1;
        match &self.output {
            Some(path) if several || path.is_dir() || ends_in_separator(path) => Ok(Output::Folder(path)),
            Some(path) => Ok(Output::File(path)),
            None if several => Err(CliError::bad_input_with(
                "no-folder",
                "several events need a folder",
                "name one with -o FOLDER; it is created if missing",
            )),
            None => Ok(Output::Stdout),
        }
    }
}

fn ends_in_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(safe_name("000012-github-push.fixture.json", "x"), "000012-github-push.fixture.json");
        assert_eq!(safe_name("../../etc/passwd", "x"), "-..-etc-passwd.fixture.json");
        assert_eq!(safe_name("..", "0199"), "0199.fixture.json");
        assert_eq!(safe_name("a\\b:c\u{1b}$(x)", "x"), "a-b-c---x-.fixture.json");
    }
}
