#!/usr/bin/env bash
# Fuzzes each target for FUZZ_SECONDS (20); arguments name single targets. Corpora stay in fuzz/corpus.
#
# A new target is one file in fuzz/fuzz_targets and one [[bin]] in fuzz/Cargo.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for core
# shellcheck disable=SC1091 # written by setup
. "${TOOLS_DIR:-.tools}/env.sh"

path=$(scripts/cargo-tool.sh cargo-fuzz 0.13.2)
export PATH=$path:$PATH
# The sanitizer is a nightly option; this lets the pinned stable compiler take it. The switch changes every build, so
# the targets have a folder of their own.
export RUSTC_BOOTSTRAP=1
target=${CARGO_TARGET_DIR:-$PWD/target}/fuzz

if (($# == 0)); then
  # shellcheck disable=SC2046 # a list of words
  set -- $(cargo fuzz list)
fi
for name in "$@"; do
  echo "== $name"
  mkdir -p "fuzz/corpus/$name"
  cargo fuzz run --target-dir "$target" "$name" "fuzz/corpus/$name" -- \
    -max_total_time="${FUZZ_SECONDS:-20}" -max_len=65536 -verbosity=0 -print_final_stats=1
done
