//! Real NATS servers as child processes on loopback, each with its own folder.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a node may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// A shell script that runs a server until standard input ends, then kills it (SIGKILL) and removes its folder. So no
/// server is left over however the tests end: the script ignores the signals that end the tests' process group. It runs
/// one command a line, and prints the command when it is done: `halt` kills the server and keeps its files, `start`
/// starts it again.
const KEEPER: &str = r#"trap '' HUP INT TERM
dir=$1; shift
start() { "$@" >>"$dir/log" 2>&1 & server=$!; }
halt() { kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
start "$@"
while read -r word; do
  case $word in
    halt) halt ;;
    start) start "$@" ;;
  esac
  echo "$word"
done
halt
rm -rf "$dir""#;

/// Returns the path of `nats-server`, if it is installed.
pub fn server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into()); // Debian installs it where only root's PATH looks
    folders.into_iter().map(|folder| folder.join("nats-server")).find(|program| program.is_file())
}

/// The servers of a cluster. All of them end when this is dropped or the process ends.
pub struct Cluster {
    nodes: Vec<Node>,
}

struct Node {
    folder: PathBuf,
    address: SocketAddr,
    keeper: Mutex<Child>,
}

impl Cluster {
    /// Starts this many servers. A single server runs without a cluster.
    pub fn start(program: &Path, size: usize) -> Self {
        // Another process may take a port between the moment when it is found free and its use.
        (0..5).find_map(|_| Self::try_start(program, size)).expect("NATS starts")
    }

    fn try_start(program: &Path, size: usize) -> Option<Self> {
        let mut ports = free_ports(2 * size);
        let routes = ports.split_off(size);
        let folder = |number: usize| {
            let made = tempfile::Builder::new().prefix(&format!("hookmitt-nats-{number}-")).tempdir();
            made.expect("a folder").keep()
        };
        let nodes = ports.iter().enumerate().map(|(number, &address)| {
            let folder = folder(number);
            let config = config(number, address, routes.get(number).filter(|_| size > 1), &routes, &folder);
            std::fs::write(folder.join("config"), config).expect("a config is written");
            Node { keeper: Mutex::new(keeper(program, &folder)), folder, address }
        });
        let cluster = Self { nodes: nodes.collect() };
        cluster.nodes.iter().all(Node::listens).then_some(cluster)
    }

    /// Returns the URL of all nodes, for `--store`.
    pub fn url(&self) -> String {
        let nodes = self.nodes.iter().map(|node| node.address.to_string());
        format!("nats://{}", nodes.collect::<Vec<_>>().join(","))
    }

    /// Returns the URL of one node.
    pub fn url_of(&self, node: usize) -> String {
        format!("nats://{}", self.nodes[node].address)
    }

    /// Kills a node (SIGKILL) and keeps its files.
    pub fn kill(&self, node: usize) {
        self.nodes[node].obeys("halt");
    }

    /// Starts a killed node again with its files.
    pub fn restart(&self, node: usize) {
        self.nodes[node].obeys("start");
        assert!(self.nodes[node].listens(), "the node is not back: {}", self.log(node));
    }

    /// Returns the last 20 lines of a node's log.
    pub fn log(&self, node: usize) -> String {
        let log = std::fs::read_to_string(self.nodes[node].folder.join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Returns the folders of the nodes.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.nodes.iter().map(|node| node.folder.as_path())
    }
}

impl Node {
    fn listens(&self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if self.greets() {
                return true;
            }
            // Only a polling interval.
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Returns whether a NATS server answers at this node's address and has this node's name.
    fn greets(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)) else {
            return false;
        };
        let mut greeting = [0; 2_048];
        let _unlimited = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let read = stream.read(&mut greeting).unwrap_or_default();
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        String::from_utf8_lossy(&greeting[..read]).contains(&*name)
    }

    /// Sends the keeper a command, and waits until it is done.
    fn obeys(&self, word: &str) {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let Child { stdin: Some(stdin), stdout: Some(stdout), .. } = &mut *keeper else {
            panic!("the keeper's pipes are there")
        };
        writeln!(stdin, "{word}").expect("the keeper listens");
        let mut answer = String::new();
        BufReader::new(stdout).read_line(&mut answer).expect("the keeper answers");
        assert_eq!(answer.trim_end(), word);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(keeper.stdin.take());
        let _code = keeper.wait();
    }
}

/// Starts a keeper, which starts the server.
fn keeper(program: &Path, folder: &Path) -> Child {
    let mut keeper = Command::new("sh");
    keeper.args(["-c", KEEPER, "keeper"]).arg(folder).arg(program).arg("-c").arg(folder.join("config"));
    keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh starts")
}

fn config(
    number: usize,
    address: SocketAddr,
    route: Option<&SocketAddr>,
    routes: &[SocketAddr],
    folder: &Path,
) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let store = folder.join("js");
    let mut config = format!(
        "listen: \"{address}\"\nserver_name: \"{name}\"\n\
         jetstream {{ store_dir: {store:?}, max_memory_store: 256MB, max_file_store: 20GB }}\n"
    );
    if let Some(route) = route {
        let others = routes.iter().enumerate().filter(|(other, _)| *other != number);
        let others: Vec<_> = others.map(|(_, route)| format!("\"nats://{route}\"")).collect();
        config.push_str(&format!(
            "cluster {{ name: hookmitt, listen: \"{route}\", routes: [{}] }}\n",
            others.join(", ")
        ));
    }
    config
}

/// Returns a loopback port that is free now.
pub fn free_port() -> u16 {
    free_ports(1)[0].port()
}

/// Returns loopback addresses whose ports are free now.
pub(crate) fn free_ports(count: usize) -> Vec<SocketAddr> {
    let bound: Vec<_> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port")).collect();
    bound.iter().map(|listener| listener.local_addr().expect("an address")).collect()
}
