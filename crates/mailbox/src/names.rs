//! Names of tunnels as they are written into logs.

use crate::MailboxError;

/// Shortens a tunnel's name for logs, because the whole name is all that a sender needs to know to reach it.
pub fn short(tunnel: &str) -> &str {
    tunnel.get(..4).unwrap_or(tunnel)
}

impl MailboxError {
    /// Returns the message for logs, without the whole name of a tunnel.
    pub fn logged(&self) -> String {
        match self {
            Self::Unknown { what, name } => format!("there is no {what} {}", short(name)),
            Self::NameTaken(name) => Self::NameTaken(short(name).to_owned()).to_string(),
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_no_tunnel_in_full() {
        let name = "abcdefghijkmnpqrstuvwxyz23";
        let unknown = MailboxError::Unknown { what: "tunnel", name: name.to_owned() };
        assert_eq!((short(name), unknown.logged().as_str()), ("abcd", "there is no tunnel abcd"));
        assert!(!MailboxError::NameTaken(name.to_owned()).logged().contains(name));
        assert_eq!(MailboxError::DiskFull.logged(), MailboxError::DiskFull.to_string());
    }
}
