//! Writes files that only their owner may read, even if a file with a more open mode was there before.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Writes a file that only its owner may read, completely or not at all. An existing file is replaced, because its mode
/// may be more open. A pipe or device is written to directly. A symbolic link is refused if it leads to a file or to
/// nothing, because its maker may want another file to be overwritten.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let Ok(there) = fs::symlink_metadata(path) else { return replace(path, content) };
    if there.is_file() {
        return replace(path, content);
    }
    let leads_to_file = fs::metadata(path).map_or(true, |behind| behind.is_file());
    if there.is_symlink() && leads_to_file {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a symbolic link; name the file that it points to",
        ));
    }
    OpenOptions::new().write(true).open(path)?.write_all(content)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let made = beside(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&made).and_then(|mut file| file.write_all(content));
    let replaced = written.and_then(|()| fs::rename(&made, path));
    if replaced.is_err() {
        let _half = fs::remove_file(&made);
    }
    replaced
}

/// Returns a random name in the same folder. Nobody can guess it, so nobody can create the file before us.
fn beside(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{:016x}.new", rand::random::<u64>()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn threat_8_a_file_that_others_could_read_is_replaced_by_one_that_they_can_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        write(&path, b"one").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let others = fs::File::open(&path).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"two"[..], 0o600));
        assert_eq!(io::read_to_string(others).unwrap(), "one", "who had it open doesn't get the new one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn threat_8_a_link_to_a_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, dangling) =
            (folder.path().join("file"), folder.path().join("link"), folder.path().join("dangling"));
        fs::write(&file, "kept").unwrap();
        symlink(&file, &link).unwrap();
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        for link in [&link, &dangling] {
            assert!(write(link, b"new").unwrap_err().to_string().contains("link"));
        }
        assert_eq!(fs::read(&file).unwrap(), b"kept");
        assert!(!folder.path().join("nowhere").exists());
    }

    #[test]
    fn a_device_is_written_to_and_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/null", &link).unwrap();
        write(&link, b"x").unwrap();
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write(folder.path(), b"x").is_err(), "a folder is no file");
    }
}
