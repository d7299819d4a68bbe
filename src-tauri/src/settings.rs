//! What the window remembers from one start to the next, in `window.json` in the data directory. Tauri's own plugin
//! keeps the window's position and size in a file beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

/// The capture port, unless the user chose another.
const PORT: u16 = 4400;

/// What closing the window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnClose {
    /// Hides the window; Hookmitt keeps catching, and its tray icon stays.
    Keep,
    /// Quits Hookmitt.
    Quit,
}

/// The remembered settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Remembered {
    /// The answer to the question that closing asks, if it was remembered.
    pub(crate) on_close: Option<OnClose>,
    /// The capture port that the user chose after a failed start.
    pub(crate) port: Option<u16>,
}

/// The settings and their file.
#[derive(Debug)]
pub(crate) struct Settings {
    file: PathBuf,
    now: Mutex<Remembered>,
}

impl Settings {
    /// Reads the settings. A file that can't be read counts as empty, because the settings are not worth refusing to
    /// start.
    pub(crate) fn read(data_dir: &Path) -> Self {
        let file = data_dir.join("window.json");
        let now =
            fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { file, now: Mutex::new(now) }
    }

    /// Returns the current settings.
    pub(crate) fn now(&self) -> Remembered {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the port to capture on: the given one, else the remembered one, else the usual one.
    pub(crate) fn port(&self, given: Option<u16>) -> u16 {
        given.or(self.now().port).unwrap_or(PORT)
    }

    /// Changes the settings and saves them.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Remembered)) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut now);
        if let Err(error) = self.write(&now) {
            tracing::warn!(%error, file = %self.file.display(), "this setting can't be stored");
        }
    }

    /// Writes a new file and renames it, so that the old one is replaced in one step.
    fn write(&self, now: &Remembered) -> io::Result<()> {
        let new = self.file.with_extension("json.new");
        fs::write(&new, serde_json::to_vec_pretty(now)?)?;
        fs::rename(&new, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_there_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::read(folder.path());
        assert_eq!((settings.now(), settings.port(None)), (Remembered::default(), PORT));
        settings.change(|now| now.on_close = Some(OnClose::Keep));
        settings.change(|now| now.port = Some(4500));
        let again = Settings::read(folder.path());
        assert_eq!(again.now(), Remembered { on_close: Some(OnClose::Keep), port: Some(4500) });
        assert_eq!((again.port(None), again.port(Some(0))), (4500, 0));
    }

    #[test]
    fn a_broken_file_is_no_reason_not_to_start() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("window.json"), "{").unwrap();
        assert_eq!(Settings::read(folder.path()).now(), Remembered::default());
    }
}
