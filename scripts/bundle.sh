#!/usr/bin/env bash
# Makes a Debian package of the window in target/release/bundle/deb. Arguments go to Tauri's command, for example
# --debug or --bundles.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for lint # installs what compiles the window, even without a display
# shellcheck disable=SC1091 # setup writes this file
. "${TOOLS_DIR:-.tools}/env.sh"

# Tauri's command expects the window's package in this folder, and builds the UI itself.
ui/node_modules/.bin/tauri build --ci "$@"
