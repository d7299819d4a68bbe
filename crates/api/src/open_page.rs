//! The file that a browser opens instead of the URL with the one-time code. A program's arguments are in the process
//! list, where every user of the machine can read them. The file is private and leads to that URL.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    private_file,
    session::{CODE_LIVES, CodeHash, OpenUrl, Sessions},
};

/// The folder for these files in the data directory.
const FOLDER: &str = "open";

/// A file that sends a browser to the page. Dropping this removes the file.
pub(crate) struct OpenPage {
    path: PathBuf,
    code: CodeHash,
    sessions: Arc<Sessions>,
}

impl OpenPage {
    /// Writes the file for a URL with a new code.
    pub(crate) fn write(data_dir: &Path, open: OpenUrl, sessions: Arc<Sessions>) -> io::Result<Self> {
        let folder = data_dir.join(FOLDER);
        private_file::create_folder(&folder)?;
        // The name must not reveal the code, because other users see it in the arguments.
        let path = folder.join(format!("{}.html", hex::encode(rand::random::<[u8; 8]>())));
        let page = Self { path, code: open.code, sessions };
        private_file::create(&page.path, html(&open.url).as_bytes())?;
        Ok(page)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the file until a browser has used its code or the code has expired, then removes it.
    pub(crate) async fn until_used(self) {
        self.sessions.until_ended(&self.code).await;
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

/// Removes files that a killed process has left behind. Files that another process may still need are kept.
pub(crate) fn clear(data_dir: &Path, now: SystemTime) {
    let Ok(files) = fs::read_dir(data_dir.join(FOLDER)) else { return };
    for file in files.flatten() {
        let written = file.metadata().and_then(|metadata| metadata.modified());
        // A file from the future was written before the clock was set back, so it is old.
        let age = written.ok().and_then(|written| now.duration_since(written).ok());
        if age.is_none_or(|age| age > CODE_LIVES + Duration::from_secs(1)) {
            let _gone = fs::remove_file(file.path());
        }
    }
}

/// Returns a page that redirects to the URL at once, without an entry in the tab's history. It loads nothing and runs
/// no script.
fn html(url: &str) -> String {
    let url = escaped(url);
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Hookmitt</title>
</head>
<body>
<p><a href="{url}" rel="noreferrer">Open Hookmitt</a></p>
</body>
</html>
"#
    )
}

/// Escapes a text for an HTML attribute in double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use hookmitt_event::Timestamp;

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    /// Writes a page, and returns it with its code.
    fn written(folder: &Path, sessions: &Arc<Sessions>) -> (OpenPage, String) {
        let open = sessions.open_url(Instant::now(), NOW).unwrap();
        let code = open.url.split_once("#code=").unwrap().1.to_owned();
        (OpenPage::write(folder, open, Arc::clone(sessions)).unwrap(), code)
    }

    fn sessions() -> Arc<Sessions> {
        Arc::new(Sessions::of(Some("127.0.0.1:4401".parse().unwrap()), "token"))
    }

    #[cfg(unix)]
    #[test]
    fn threat_1_the_file_with_the_code_is_private_and_its_name_tells_nothing() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        fs::set_permissions(folder.path().join(FOLDER), fs::Permissions::from_mode(0o777)).unwrap();
        let (page, code) = written(folder.path(), &sessions());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(page.path()), mode(page.path().parent().unwrap())), (0o600, 0o700));
        let text = fs::read_to_string(page.path()).unwrap();
        assert_eq!(text.matches(&format!("http://127.0.0.1:4401/#code={code}\"")).count(), 2, "{text}");
        assert!(!page.path().to_string_lossy().contains(&code));
    }

    #[tokio::test]
    async fn threat_1_the_file_goes_when_its_code_was_swapped() {
        let (folder, sessions) = (tempfile::tempdir().unwrap(), sessions());
        let ((page, code), (other, others_code)) =
            (written(folder.path(), &sessions), written(folder.path(), &sessions));
        let path = page.path().to_owned();
        let used = page.until_used();
        tokio::pin!(used);
        assert!(futures_util::poll!(used.as_mut()).is_pending());
        sessions.swap(&others_code, Instant::now(), NOW).unwrap();
        assert!(futures_util::poll!(used.as_mut()).is_pending(), "another code was swapped");
        assert!(path.exists());
        sessions.swap(&code, Instant::now(), NOW).unwrap();
        used.await;
        assert!(!path.exists() && other.path().exists());
    }

    #[tokio::test(start_paused = true)]
    async fn threat_1_the_file_goes_when_nobody_came_within_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let (page, _code) = written(folder.path(), &sessions());
        let (path, begun) = (page.path().to_owned(), tokio::time::Instant::now());
        page.until_used().await;
        assert!(!path.exists() && begun.elapsed() >= CODE_LIVES);
    }

    #[test]
    fn threat_1_what_a_killed_process_left_is_cleared_and_what_is_young_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (page, _code) = written(folder.path(), &sessions());
        let at = fs::metadata(page.path()).unwrap().modified().unwrap();
        clear(folder.path(), at + Duration::from_secs(30));
        assert!(page.path().exists(), "another process may be waiting for its browser");
        clear(folder.path(), at + Duration::from_secs(120));
        assert!(!page.path().exists());
        let (page, _code) = written(folder.path(), &sessions());
        clear(folder.path(), at - Duration::from_secs(3_600));
        assert!(!page.path().exists(), "the clock was set back since");
    }

    #[test]
    fn threat_2_the_url_can_not_leave_its_attribute() {
        let page = html(r#"http://h/#"><script>alert('1')</script>&amp;"#);
        assert!(!page.contains("<script") && !page.contains("src="), "{page}");
        assert_eq!(page.matches("#&quot;&gt;&lt;script&gt;").count(), 2);
    }
}
