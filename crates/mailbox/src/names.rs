//! How tunnels are called where others read along.

use crate::MailboxError;

/// How a tunnel is called in logs: the whole name is what senders need to know.
pub fn short(tunnel: &str) -> &str {
    tunnel.get(..4).unwrap_or(tunnel)
}

impl MailboxError {
    /// What is written into logs: no whole name of a tunnel.
    pub fn logged(&self) -> String {
        match self {
            Self::Unknown { what, name } => format!("no {what} {}", short(name)),
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
        assert_eq!((short(name), unknown.logged().as_str()), ("abcd", "no tunnel abcd"));
        assert!(!MailboxError::NameTaken(name.to_owned()).logged().contains(name));
        assert_eq!(MailboxError::DiskFull.logged(), MailboxError::DiskFull.to_string());
    }
}
