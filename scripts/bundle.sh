#!/usr/bin/env bash
# Makes a package of the window: target/release/bundle/deb. Arguments go to Tauri's own command: --debug, --bundles.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for lint # what compiles the window, display or not
# shellcheck disable=SC1091 # written by setup
. "${TOOLS_DIR:-.tools}/env.sh"

# Tauri's command looks for the window's package in this folder, and runs the UI's build itself.
ui/node_modules/.bin/tauri build --ci "$@"
