#!/usr/bin/env bash
# Opens the window; without a display, serves and says where. Arguments go on: --port, --data-dir.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for run
# shellcheck disable=SC1091 # written by setup
. "${TOOLS_DIR:-.tools}/env.sh"

npm --prefix ui run --silent build
if [[ $(uname) != Linux || -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
  exec cargo run --release -p hookmitt-desktop --features tauri/custom-protocol -- "$@"
fi
echo "there is no display to open a window on: serving without one" >&2
exec cargo run --release -p hookmitt-cli -- serve "$@"
