#!/usr/bin/env bash
# Builds and tests the web UI and the whole workspace, then prints how many tests passed, failed or were skipped.
#
#   scripts/test.sh [part of a test's name]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for test
# shellcheck disable=SC1091 # setup writes this file
. "${TOOLS_DIR:-.tools}/env.sh"

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
log=$target/test.log

# A test that needs something missing from this machine adds a line to this file, so that it doesn't pass silently.
export HOOKMITT_SKIPPED=$target/skipped.txt
: >"$HOOKMITT_SKIPPED"
# In CI a failed story runs once more. If it then passes, its first failure is written to this file.
export HOOKMITT_FLAKY=$target/flaky.txt
: >"$HOOKMITT_FLAKY"

# Both binaries contain the web UI.
npm --prefix ui run --silent check
npm --prefix ui run --silent build

# Some tests start these binaries. Built together with the tests, their dependencies are compiled only once.
export HOOKMITT_BIN=$target/debug/hookmitt HOOKMITT_DESKTOP_BIN=$target/debug/hookmitt-desktop
cargo build --workspace --bins --tests
if command -v dpkg >/dev/null; then
  # Bundles the development build: a release build would take minutes longer and test nothing else.
  ui/node_modules/.bin/tauri bundle --ci --debug --bundles deb
fi

status=0
: >"$log"
# Tests that hang are stopped after TEST_LIMIT seconds, so that the run still reports its results.
limit=()
if command -v timeout >/dev/null; then limit=(timeout --kill-after=30 "${TEST_LIMIT:-1800}"); fi
# If this script runs in the background, it ignores Ctrl-C, and so would the programs that it starts. This undoes that
# for them.
if env --default-signal=INT true 2>/dev/null; then limit=(env "--default-signal=INT,QUIT,CHLD" "${limit[@]}"); fi
tested() { NO_COLOR=1 ${limit[@]+"${limit[@]}"} "$@" 2>&1 | tee -a "$log" || status=$?; }
flaky() { grep -c '^flaky: ' "$HOOKMITT_FLAKY" || true; }
tested npm --prefix ui --silent test -- ${1:+--passWithNoTests --testNamePattern "$1"}
before=$status status=0 mended=0
tested cargo test --workspace --no-fail-fast "$@"
if [[ ${CI:-} == true && $status == 101 ]] && ${limit[@]+"${limit[@]}"} scripts/second-try.sh "$log"; then
  status=0 mended=$(flaky)
fi
((status)) || status=$before
tested npm --prefix tests/ui --silent test -- "$@"

echo
cat "$HOOKMITT_SKIPPED"
echo "skipped: $(wc -l <"$HOOKMITT_SKIPPED" | tr -d ' ')"
cat "$HOOKMITT_FLAKY"
echo "flaky: $(flaky)"

# On Debian, setup can install every program that tests need, so a skipped test is a failure there, as it is in CI.
# Outside CI, tests that need the folder ../shared may be skipped, because many people have only the repository.
fatal=$HOOKMITT_SKIPPED.fatal
if [[ ${CI:-} == true ]]; then
  cp "$HOOKMITT_SKIPPED" "$fatal"
elif command -v apt-get >/dev/null; then
  grep -v -F '../shared' "$HOOKMITT_SKIPPED" >"$fatal" || true
else
  : >"$fatal"
fi
if [[ -s $fatal ]]; then
  echo "failed: tests were skipped that have to run here"
  ((status)) || status=1
fi
rm -f "$fatal"

# cargo and the UI's stories print the first form, vitest the second: "Tests  1 failed | 33 passed | 1 skipped (35)".
awk '
  /^test result:/ { passed += $4; failed += $6; ignored += $8 }
  /^ *Tests  / {
    for (i = 2; i < NF; i++) {
      if ($(i + 1) == "passed") passed += $i
      if ($(i + 1) == "failed") failed += $i
      if ($(i + 1) == "skipped" && !narrowed) ignored += $i
    }
  }
  END {
    if (ignored) print ignored " ignored"
    printf "%d passed, %d failed, %d flaky\n", passed, failed - mended, mended
  }
' narrowed="${1:+1}" mended="$mended" "$log"
exit "$status"
