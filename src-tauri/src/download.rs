//! Saves an API response to a file: exports, and bodies that are too large to show.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use http_body_util::BodyExt as _;
use tauri::{AppHandle, Manager as _, State, ipc};

use crate::{core::Core, frames, state::Failure};

/// The longest file name in bytes. Every file system takes it, even with a number added.
const LONGEST: usize = 200;

/// Calls the API and saves the response in the user's download folder, as a browser would. Returns the file's path. The
/// request is a frame as in `api`; its header `x-hookmitt-save-as` names the file.
#[tauri::command]
pub(crate) async fn save_file(
    request: ipc::Request<'_>,
    app: AppHandle,
    core: State<'_, Arc<Core>>,
) -> Result<PathBuf, Failure> {
    let bad = |why: String| Failure::new("bad-input", why, None);
    let ipc::InvokeBody::Raw(frame) = request.body() else {
        return Err(bad("the request must be bytes".to_owned()));
    };
    let mut asked = frames::read(frame).map_err(|error| bad(error.to_string()))?;
    let name = asked.headers_mut().remove(SAVE_AS);
    let name = file_name(&String::from_utf8_lossy(name.as_ref().map_or(b"", |name| name.as_bytes())));
    let mut answer = core.call(asked).await?;
    if !answer.status().is_success() {
        return Err(Failure::new("refused", format!("the API answered {}", answer.status()), None));
    }
    let folder = app.path().download_dir().or_else(|_| app.path().home_dir());
    let folder = folder.map_err(|error| Failure::new("no-folder", error.to_string(), None))?;
    let unsaved =
        |error: io::Error| Failure::new("not-saved", format!("{}: {error}", folder.display()), None);
    let (path, mut file) = create(&folder, &name).map_err(unsaved)?;
    while let Some(piece) = answer.body_mut().frame().await {
        let written = piece.map_err(io::Error::other).and_then(|piece| write(&mut file, piece));
        if let Err(error) = written {
            let _half = std::fs::remove_file(&path);
            return Err(unsaved(error));
        }
    }
    Ok(path)
}

const SAVE_AS: &str = "x-hookmitt-save-as";

fn write(file: &mut File, piece: http_body::Frame<bytes::Bytes>) -> io::Result<()> {
    piece.into_data().map_or(Ok(()), |data| file.write_all(&data))
}

/// Returns a harmless file name, because the requested one may come from a stranger.
fn file_name(asked: &str) -> String {
    let last = asked.rsplit(['/', '\\']).next().unwrap_or_default();
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '.' | '-' | '_' | '#');
    let plain: String = last.chars().map(|letter| if fits(letter) { letter } else { '_' }).collect();
    let plain = plain.trim_matches(['.', ' ']);
    let mut end = plain.len().min(LONGEST);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    if end == 0 { "hookmitt".to_owned() } else { plain[..end].to_owned() }
}

/// Creates a file with this name, or with a number added if the name is taken, so that nothing is overwritten.
fn create(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let (stem, ending) =
        name.split_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    std::fs::create_dir_all(folder)?;
    for number in 1..1000 {
        let counted = if number == 1 { name.to_owned() } else { format!("{stem} ({number}){ending}") };
        let path = folder.join(counted);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((path, opened?)),
        }
    }
    Err(io::Error::other(format!("there are too many files called {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_2_a_strangers_name_stays_in_the_folder() {
        for (asked, name) in [
            ("push.fixture.json", "push.fixture.json"),
            ("../../.bashrc", "bashrc"),
            ("a/b\\c.bin", "c.bin"),
            ("..", "hookmitt"),
            ("", "hookmitt"),
            ("x\u{202e}gnp.exe\n", "x_gnp.exe_"),
        ] {
            assert_eq!(file_name(asked), name, "{asked:?}");
        }
        assert_eq!(file_name(&"ä".repeat(300)).len(), LONGEST);
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..3).map(|_| create(folder.path(), "a.fixture.json").unwrap().0).collect();
        let expected = ["a.fixture.json", "a (2).fixture.json", "a (3).fixture.json"];
        assert_eq!(names, expected.map(|name| folder.path().join(name)));
    }
}
