//! Runs a test again as a child process, which can be killed or confined to a small disk.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The variable that names the file to the child.
const CHILD: &str = "HOOKMITT_TEST_CHILD_STORE";

/// Returns the file with which this process works if it is a child.
pub(super) fn store() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

/// Returns the command that runs the named test as a child: through `wrapper`, or directly if that is empty.
pub(super) fn command(wrapper: &[&str], test: &str, store: &std::path::Path) -> Command {
    let this = env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(&this),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(&this);
            command
        }
    };
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, store);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}
