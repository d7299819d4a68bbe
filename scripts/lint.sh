#!/usr/bin/env bash
# Runs every check that doesn't run the product. All checks run, even if some fail; failed ones are named at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --for lint
# shellcheck disable=SC1091 # setup writes this file
. "${TOOLS_DIR:-.tools}/env.sh"

failed=()
check() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" || failed+=("$name")
  echo "== $name: $((SECONDS - start)) s"
}

limit() { if command -v timeout >/dev/null; then timeout "$@"; else shift && "$@"; fi; }

rustdoc() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps; }

deny() { PATH=$deny_path:$PATH limit 120 cargo deny --locked "$@"; }

advisories() {
  if deny fetch db >/dev/null 2>&1; then
    deny --offline check advisories
  else
    echo "not checked: the database at https://github.com/rustsec/advisory-db could not be reached"
  fi
}

in_ui() { (cd ui && npm "$@"); }

check "ui: types and components" in_ui run --silent check
check "ui: prettier" in_ui exec --offline -- prettier --check --log-level warn .
check rustfmt cargo fmt --all --check
check "rustfmt (fuzz)" cargo fmt --manifest-path fuzz/Cargo.toml --check
check clippy cargo clippy --locked --workspace --all-targets -- -D warnings
check rustdoc rustdoc
deny_path=$(scripts/cargo-tool.sh cargo-deny 0.20.2) || deny_path=/nonexistent
check "cargo deny" deny check --allow unused-wrapper bans licenses sources
check advisories advisories
check shellcheck shellcheck --external-sources scripts/*.sh .ci/run

if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "lint: all clean"
