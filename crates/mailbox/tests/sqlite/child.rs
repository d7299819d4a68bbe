//! A test that runs again as its own child, in a process that can be killed or shut into a small disk.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Names the file to the child.
const CHILD: &str = "HOOKMITT_TEST_CHILD_STORE";

/// The file that this process, a child, is to work with. `None`: it is no child.
pub(super) fn store() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

/// The test of that name as a child, run by `wrapper`, or by itself where that is empty.
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
