#!/usr/bin/env bash
# Prints the folder of a cargo tool at a pinned version. The first time, builds the tool into the user's cache.
#
#   PATH="$(scripts/cargo-tool.sh cargo-deny 0.20.2):$PATH"
set -euo pipefail
name=$1 version=$2
root=${HOOKMITT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hookmitt}/$name-$version

if [[ ! -x $root/bin/$name ]]; then
  echo "building $name $version into the cache (once)" >&2
  # These tools run for about a second. Optimising them would take minutes and save nothing.
  CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    env -u CARGO_TARGET_DIR cargo install --quiet --locked --root "$root" "$name@$version" >&2
fi
echo "$root/bin"
