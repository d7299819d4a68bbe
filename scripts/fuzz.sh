#!/usr/bin/env bash
# Fuzzes each target for FUZZ_SECONDS (60); arguments name single targets. Starts from the committed seeds in
# fuzz/corpus; what a run finds stays there too, and is not committed. Prints how often each target ran.
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
  log=$(mktemp)
  # A run's own output goes to stderr; of it the number of executions is the point.
  if ! cargo fuzz run --target-dir "$target" "$name" "fuzz/corpus/$name" -- \
    -max_total_time="${FUZZ_SECONDS:-60}" -max_len=65536 -timeout=60 -verbosity=0 -print_final_stats=1 \
    2> >(tee "$log" >&2); then
    rm -f "$log"
    exit 1
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  rm -f "$log"
  echo "fuzz: $name: ${executions:-unknown} executions in ${FUZZ_SECONDS:-60} s"
done
