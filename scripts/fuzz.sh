#!/usr/bin/env bash
# Fuzzes each target for FUZZ_SECONDS (60), two at a time, and prints how many inputs each of them executed. Arguments
# limit this to the named targets. Each target starts with the seeds in fuzz/corpus/<target>; further inputs that it
# finds are kept in the target folder.
#
# A new target needs a file in fuzz/fuzz_targets, a [[bin]] in fuzz/Cargo.toml, and some seeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for core
# shellcheck disable=SC1091 # setup writes this file
. "${TOOLS_DIR:-.tools}/env.sh"

path=$(scripts/cargo-tool.sh cargo-fuzz 0.13.2)
export PATH=$path:$PATH
# The sanitizer is a nightly option, which this makes the pinned stable compiler accept. It changes every build, so the
# targets have a folder of their own.
export RUSTC_BOOTSTRAP=1
target=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
seconds=${FUZZ_SECONDS:-60}

started=$SECONDS
if (($# == 0)); then
  cargo fuzz build --target-dir "$target"
  # shellcheck disable=SC2046 # one argument per name
  set -- $(cargo fuzz list)
else
  for name in "$@"; do cargo fuzz build --target-dir "$target" "$name"; done
fi
echo "built in $((SECONDS - started)) s"

triple=$(rustc -vV | sed -n 's/^host: //p')
fuzzed() {
  local name=$1 found=$target/corpus/$1 log=$target/$1.log
  # In CI only the seeds are used: inputs kept from earlier runs would take longer and longer to read.
  if [[ ${CI:-} == true ]]; then rm -rf "$found"; fi
  mkdir -p "$found" "fuzz/corpus/$name" "$target/artifacts/$name"
  if ! "$target/$triple/release/$name" "$found" "fuzz/corpus/$name" -max_total_time="$seconds" -max_len=65536 -timeout=60 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="$target/artifacts/$name/" >"$log" 2>&1; then
    cat "$log"
    echo "$name: failed; the input is in $target/artifacts/$name"
    return 1
  fi
  local executed
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-14s %4s s %12s executions   %s seeds\n' "$name" "$seconds" "${executed:-no}" \
    "$(find "fuzz/corpus/$name" -type f | wc -l | tr -d ' ')"
  # A target that executed nothing was not fuzzed, so it fails.
  [[ ${executed:-0} -gt 0 ]]
}
export -f fuzzed
export target triple seconds
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'fuzzed {}'
