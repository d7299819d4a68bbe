//! Pebble, Let's Encrypt's ACME server for tests, as a child process: real orders and real challenges.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{Process, eventually, nats::free_ports, post, request, secured, skip::program};

/// An ACME authority with its own DNS server, in which every name resolves to the same address.
pub struct Authority {
    pebble: Process,
    _dns: Process,
    folder: TempDir,
    directory: SocketAddr,
    management: SocketAddr,
    dns_management: SocketAddr,
    own: CertificateDer<'static>,
}

impl Authority {
    /// Starts an authority whose certificates are valid for `life`, and which validates its TLS challenges at this
    /// port. If a program is missing, it records a skip and returns `None`; on Debian and in CI it panics.
    pub async fn start(challenge_port: u16, life: Duration) -> Option<Self> {
        let (pebble, dns) = (program("pebble", "pebble")?, program("pebble-challtestsrv", "pebble")?);
        // Another process may take a port between the moment when it is found free and its use.
        for _ in 0..5 {
            if let Some(started) = Self::try_start(&pebble, &dns, challenge_port, life).await {
                return Some(started);
            }
        }
        panic!("pebble starts");
    }

    async fn try_start(pebble: &Path, dns: &Path, challenge_port: u16, life: Duration) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        write("key.pem", &made.signing_key.serialize_pem());
        write("cert.pem", &made.cert.pem());
        let ports: [_; 4] = free_ports(4).try_into().expect("four");
        let [directory, management, names, dns_management] = ports;
        let config = json!({ "pebble": {
            "listenAddress": directory.to_string(),
            "managementListenAddress": management.to_string(),
            "certificate": "cert.pem",
            "privateKey": "key.pem",
            "httpPort": 1,
            "tlsPort": challenge_port,
            "certificateValidityPeriod": life.as_secs(),
        }});
        write("config.json", &config.to_string());

        let mut command = Command::new(dns);
        let nothing = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""];
        command
            .args(["-dns01", &names.to_string(), "-management", &dns_management.to_string()])
            .args(nothing);
        let dns = Process::start(command);
        let mut command = Command::new(pebble);
        command.args(["-config", "config.json", "-dnsserver", &names.to_string()]);
        command.current_dir(folder.path()).env("PEBBLE_VA_NOSLEEP", "1");
        let pebble = Process::start(command);
        let own = made.cert.der().clone();
        let started = Self { pebble, _dns: dns, folder, directory, management, dns_management, own };
        started.listens().await.then_some(started)
    }

    /// Returns whether both programs listen within 20 s.
    async fn listens(&self) -> bool {
        let listening = async {
            eventually("pebble listens", async || {
                let answers = self.ask(self.directory, "/dir").await.is_some();
                let named = tokio::net::TcpStream::connect(self.dns_management).await.is_ok();
                (answers && named).then_some(())
            })
            .await;
        };
        tokio::time::timeout(Duration::from_secs(20), listening).await.is_ok()
    }

    /// Returns the flags with which a relay uses this authority.
    pub fn flags(&self) -> Vec<String> {
        let directory = format!("https://localhost:{}/dir", self.directory.port());
        let ca = self.folder.path().join("cert.pem").display().to_string();
        ["--acme", "--acme-directory", &directory, "--acme-ca", &ca].map(str::to_owned).to_vec()
    }

    /// Returns the path of a PEM file with the root certificate that the authority signs under.
    pub async fn root_file(&self) -> PathBuf {
        let reply = self.ask(self.management, "/roots/0").await.expect("its root");
        let path = self.folder.path().join("root.pem");
        std::fs::write(&path, reply).expect("written");
        path
    }

    /// Returns the root certificate that the authority signs under.
    pub async fn root(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.root_file().await).expect("a certificate")
    }

    /// Makes every name resolve to this address.
    pub async fn names_lead_to(&self, address: Ipv4Addr) {
        let order = json!({ "ip": address }).to_string();
        let reply = post(self.dns_management, "/set-default-ipv4", &[], order.as_bytes()).await;
        assert_eq!(reply.status, 200);
    }

    /// Returns how many orders the authority has received.
    pub fn orders(&self) -> usize {
        self.pebble.out().matches("Added order ").count()
    }

    /// Returns what Pebble has printed so far.
    pub fn said(&self) -> String {
        self.pebble.out() + &self.pebble.err()
    }

    async fn ask(&self, address: SocketAddr, target: &str) -> Option<Vec<u8>> {
        let asked = request("GET", target, &[], b"");
        let answer = secured(address, "localhost", vec![self.own.clone()], asked).await?.reply();
        (answer.status == 200).then_some(answer.body)
    }
}
