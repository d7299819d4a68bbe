#!/usr/bin/env bash
# Opens the window. Without a display, serves and prints where. Arguments are passed on, for example --port or
# --data-dir.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for run
# shellcheck disable=SC1091 # setup writes this file
. "${TOOLS_DIR:-.tools}/env.sh"

npm --prefix ui run --silent build
if [[ $(uname) != Linux || -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
  exec cargo run --release -p hookmitt-desktop --features tauri/custom-protocol -- "$@"
fi
echo "no display found: serving without a window" >&2
exec cargo run --release -p hookmitt-cli -- serve "$@"
