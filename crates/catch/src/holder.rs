//! Finds who listens on a port that is taken.

use std::fmt;

/// Who listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process that the system tells us of.
    Process {
        /// Its id.
        pid: u32,
        /// Its program's name.
        name: String,
    },
    /// A process that the system doesn't tell us of, for example because it is another user's.
    Unknown,
}

impl Holder {
    /// Finds who listens on a port of this machine. Only Linux tells, and only of processes of the same user.
    pub fn of(port: u16) -> Self {
        #[cfg(target_os = "linux")]
        let found = linux::holder(port);
        #[cfg(not(target_os = "linux"))]
        let found = {
            let _port = port;
            None
        };
        found.unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, name } => write!(out, "{name} (process {pid})"),
            Self::Unknown => out.write_str("another process"),
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{collections::HashSet, fs, path::Path};

    use super::Holder;

    /// The tables of TCP sockets that this process's network has.
    const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

    pub(super) fn holder(port: u16) -> Option<Holder> {
        let tables = TABLES.iter().filter_map(|table| fs::read_to_string(table).ok());
        let sockets: HashSet<_> = tables.flat_map(|table| listening(&table, port)).collect();
        let processes = fs::read_dir("/proc").ok()?.flatten();
        let mut numbered =
            processes.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
        let (pid, place) = numbered.find(|(_, place)| has_one_of(place, &sockets))?;
        Some(Holder::Process { pid, name: name_of(&place)? })
    }

    /// Returns the sockets in a table that listen on this port, as a process's descriptors name them.
    pub(super) fn listening(table: &str, port: u16) -> Vec<String> {
        const LISTENS: &str = "0A";
        let lines = table.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let found = lines.filter_map(|fields| {
            let (_, own_port) = fields.get(1)?.rsplit_once(':')?;
            let is_here = u16::from_str_radix(own_port, 16) == Ok(port) && *fields.get(3)? == LISTENS;
            Some(format!("socket:[{}]", fields.get(9)?)).filter(|_| is_here)
        });
        found.collect()
    }

    fn has_one_of(process: &Path, sockets: &HashSet<String>) -> bool {
        let Ok(descriptors) = fs::read_dir(process.join("fd")) else { return false };
        let mut open = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        open.any(|target| target.to_str().is_some_and(|target| sockets.contains(target)))
    }

    /// Returns the name of a process's program. The name that the process gave itself is used only if the program is
    /// hidden, because many call themselves by what their main thread does.
    fn name_of(process: &Path) -> Option<String> {
        let program = fs::read_link(process.join("exe")).ok();
        let program =
            program.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let own = || Some(fs::read_to_string(process.join("comm")).ok()?.trim().to_owned());
        Some(program.or_else(own)?.trim_end_matches(" (deleted)").to_owned())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_table_says_which_sockets_listen() {
            let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                0: 0100007F:1130 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n   \
                1: 0100007F:1130 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1\n   \
                2: 00000000000000000000000001000000:1131 00000000000000000000000000000000:0000 0A 0:0 0:0 0     0  0 4713 1\n";
            assert_eq!(listening(table, 4_400), ["socket:[4711]"]);
            assert_eq!(listening(table, 4_401), ["socket:[4713]"]);
            assert!(listening(table, 40_000).is_empty(), "the other end of a connection doesn't listen");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_that_this_process_has_is_told_as_such() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let holder = Holder::of(listener.local_addr().unwrap().port());
        if cfg!(target_os = "linux") {
            assert!(holder.to_string().ends_with(&format!("(process {})", std::process::id())), "{holder}");
        } else {
            assert_eq!(holder.to_string(), "another process");
        }
    }
}
