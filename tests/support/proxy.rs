//! A real TLS proxy in front of a relay, as a child process. It uses the configuration file from `deploy/`.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use tempfile::TempDir;
use tokio::{net::TcpStream, process::Command};

use crate::{Process, eventually, skip::program};

/// A proxy whose host name is `localhost`.
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    process: Process,
    root: PathBuf,
    _folder: TempDir,
}

impl Proxy {
    /// Starts nginx with `deploy/nginx.conf`, adapted to this machine and then changed by `edit`. If nginx is missing,
    /// it records a skip and returns `None`; on Debian and in CI it panics.
    pub async fn nginx(port: u16, relay: SocketAddr, edit: impl Fn(String) -> String) -> Option<Self> {
        let program = program("nginx", "nginx")?;
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path().display();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        write(folder.path(), "fullchain.pem", &made.cert.pem());
        write(folder.path(), "privkey.pem", &made.signing_key.serialize_pem());
        let site = replaced(
            &deployed("nginx.conf"),
            &[
                ("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl")),
                ("/etc/letsencrypt/live/relay.example.com", &here.to_string()),
                ("relay.example.com", "localhost"),
                ("127.0.0.1:4410", &relay.to_string()),
            ],
        );
        write(folder.path(), "site.conf", &edit(site));
        // A single process, so that no worker is left over however it ends.
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let paths: String = paths.iter().map(|name| format!("{name}_temp_path {here}/{name};\n")).collect();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {here}/pid;\nevents {{}}\n\
             http {{\naccess_log off;\n{paths}include {here}/site.conf;\n}}\n"
        );
        write(folder.path(), "nginx.conf", &config);
        let mut command = Command::new(program);
        command
            .args(["-e", "stderr", "-p"])
            .arg(folder.path())
            .arg("-c")
            .arg(folder.path().join("nginx.conf"));
        let root = folder.path().join("fullchain.pem");
        Some(Self::started(command, port, root, folder).await)
    }

    /// Starts Caddy with `deploy/Caddyfile` and Caddy's own certificate authority. If Caddy is missing, it records a
    /// skip and returns `None`; on Debian and in CI it panics.
    pub async fn caddy(port: u16, relay: SocketAddr) -> Option<Self> {
        let program = program("caddy", "caddy")?;
        let folder = tempfile::tempdir().expect("a folder");
        let site = replaced(
            &deployed("Caddyfile"),
            &[("relay.example.com", &format!("localhost:{port}")), ("127.0.0.1:4410", &relay.to_string())],
        );
        write(folder.path(), "site", &site);
        let config = format!(
            "{{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n\
             \tstorage file_system {}\n\tservers {{\n\t\tprotocols h1 h2\n\t}}\n}}\nimport site\n",
            folder.path().join("store").display()
        );
        write(folder.path(), "Caddyfile", &config);
        let mut command = Command::new(program);
        command.args(["run", "--adapter", "caddyfile", "--config", "Caddyfile"]).current_dir(folder.path());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env(name, folder.path());
        }
        let root = folder.path().join("store/pki/authorities/local/root.crt");
        Some(Self::started(command, port, root, folder).await)
    }

    async fn started(command: Command, port: u16, root: PathBuf, folder: TempDir) -> Self {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let proxy = Self { address, process: Process::start(command), root, _folder: folder };
        eventually(&format!("a proxy listens on {port}"), async || {
            let is_there = TcpStream::connect(address).await.is_ok() && proxy.root.exists();
            is_there.then_some(())
        })
        .await;
        proxy
    }

    /// Returns the PEM file with the certificate that a client must trust.
    pub fn root_file(&self) -> &Path {
        &self.root
    }

    /// Returns the certificate that a client must trust.
    pub fn root(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(&self.root).expect("a certificate")
    }

    /// Returns what the proxy has printed so far.
    pub fn said(&self) -> String {
        self.process.out() + &self.process.err()
    }
}

fn deployed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name);
    fs::read_to_string(path).expect("a file of the repository")
}

/// Replaces each of these strings in a text. Panics if one of them does not occur.
fn replaced(text: &str, all: &[(&str, &str)]) -> String {
    all.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in\n{text}");
        text.replace(from, to)
    })
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("written");
}
