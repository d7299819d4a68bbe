#!/usr/bin/env bash
# Builds and tests the web UI and the whole workspace, then sums up what passed, failed and could not run.
#
#   scripts/test.sh [a part of a test's name]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for test
# shellcheck disable=SC1091 # written by setup
. "${TOOLS_DIR:-.tools}/env.sh"

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
log=$target/test.log

# A test that lacks something from outside the repository adds a line to this file instead of passing silently.
export HOOKMITT_SKIPPED=$target/skipped.txt
: >"$HOOKMITT_SKIPPED"
# In CI a story that failed is played once more; one that then passes adds its failure here.
export HOOKMITT_FLAKY=$target/flaky.txt
: >"$HOOKMITT_FLAKY"

# Both binaries carry the web UI within them.
npm --prefix ui run --silent check
npm --prefix ui run --silent build

# The process tests start these binaries. Built together with the tests, their dependencies are compiled only once.
export HOOKMITT_BIN=$target/debug/hookmitt HOOKMITT_DESKTOP_BIN=$target/debug/hookmitt-desktop
cargo build --workspace --bins --tests
if command -v dpkg >/dev/null; then
  # Of the development build: a release would take minutes more and show nothing else.
  ui/node_modules/.bin/tauri bundle --ci --debug --bundles deb
fi

status=0
: >"$log"
# What hangs is ended, so that the run still says what it saw.
limit=()
if command -v timeout >/dev/null; then limit=(timeout --kill-after=30 "${TEST_LIMIT:-1800}"); fi
# A shell in the background ignores Ctrl-C, and what it starts would too.
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

# Setup can install every peer on Debian, and CI has to have them: there a skipped test is a failure. The folder beside
# the repository is the exception, for whoever has only the repository.
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

# cargo and the UI's stories write the first line, vitest the second: "Tests  1 failed | 33 passed | 1 skipped (35)".
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
