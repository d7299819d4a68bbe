//! The private socket in the data directory, through which other processes of the same user attach.
//!
//! Only its mode (0600, in a folder with mode 0700) protects it; there is no check of token or Host. Windows has no
//! such socket yet, so there each process works on the inbox itself.

use std::path::{Path, PathBuf};

/// Returns the path of the socket.
pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("hookmitt.sock")
}

#[cfg(unix)]
pub(crate) use unix::{connect, serve};

#[cfg(not(unix))]
pub(crate) use elsewhere::{connect, serve};

#[cfg(unix)]
mod unix {
    use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

    use axum::Router;
    use hookmitt_catch::Breather;
    use tokio::{
        net::{UnixListener, UnixStream},
        task::JoinSet,
    };
    use tokio_util::sync::CancellationToken;

    use crate::server::{self, Caller};

    /// The longest socket path, in bytes, that every Unix accepts.
    const LONGEST: usize = 100;

    pub(crate) async fn connect(data_dir: &Path) -> io::Result<UnixStream> {
        let (path, _folder) = reachable(data_dir)?;
        UnixStream::connect(path).await
    }

    /// Serves connections until `stop` is cancelled. Only the process that delivers may call this, because it replaces
    /// any socket that an earlier process left behind.
    pub(crate) async fn serve(data_dir: &Path, router: Router, stop: CancellationToken) -> io::Result<()> {
        let (path, _folder) = reachable(data_dir)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let (mut open, mut breather) = (JoinSet::new(), Breather::new("the private socket"));
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = open.join_next() => {}
                accepted = listener.accept() => {
                    if let Some((stream, _)) = breather.accepted(accepted).await {
                        open.spawn(server::serve(stream, Caller::Command, router.clone(), stop.clone()));
                    }
                }
            }
        }
        let _gone = fs::remove_file(&path);
        while open.join_next().await.is_some() {}
        Ok(())
    }

    /// Returns a path that is short enough for a socket. If the socket's own path is too long, the path goes through a
    /// file descriptor of the folder, which must stay open as long as the path is used.
    fn reachable(data_dir: &Path) -> io::Result<(std::path::PathBuf, Option<fs::File>)> {
        use std::os::fd::AsRawFd as _;
        let path = super::path(data_dir);
        if path.as_os_str().len() <= LONGEST {
            return Ok((path, None));
        }
        let folder = fs::File::open(data_dir)?;
        let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
        Ok((super::path(&short), Some(folder)))
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::{io, path::Path};

    use axum::Router;
    use tokio::net::TcpStream;
    use tokio_util::sync::CancellationToken;

    pub(crate) async fn connect(_: &Path) -> io::Result<TcpStream> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) async fn serve(_: &Path, _: Router, stop: CancellationToken) -> io::Result<()> {
        stop.cancelled().await;
        Ok(())
    }
}
