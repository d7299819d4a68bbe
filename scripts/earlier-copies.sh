#!/usr/bin/env bash
# Makes small copies of the files that a release writes: an app's data directory, and two relay stores (SQLite and NATS)
# with letters that wait for that app. The story `earlier` opens them with every later version. Run this with the
# release's own binary before its formats change:
#
#   scripts/earlier-copies.sh HOOKMITT tests/earlier/VERSION      needs nats-server, jq, curl and python3
set -euo pipefail
bin=$1 out=$2
export HOOKMITT_KEYRING=off HOOKMITT_TOKEN=earlier RUST_LOG=warn
mkdir -p "$out"
app=$(mktemp -d) relays=$(mktemp -d) js=$(mktemp -d) logs=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
wait_for() {
  for _ in $(seq 200); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "not there: $*" >&2
  exit 1
}

nats-server -a 127.0.0.1 -p 24222 -js -sd "$js" >/dev/null 2>&1 &
pids+=($!)
wait_for bash -c '</dev/tcp/127.0.0.1/24222'
nats='nats://127.0.0.1:24222?prefix=earlier&shards=2'
"$bin" relay --listen 127.0.0.1:24410 --store "sqlite:$relays/relay.db" 2>"$logs/sqlite" &
relay_on_sqlite=$!
"$bin" relay --listen 127.0.0.1:24411 --store "$nats" 2>"$logs/nats" &
relay_on_nats=$!
pids+=("$relay_on_sqlite" "$relay_on_nats")
wait_for bash -c '</dev/tcp/127.0.0.1/24410'
wait_for bash -c '</dev/tcp/127.0.0.1/24411'
# The app has four sources, two of them with a secret, and one more that a request creates. Its events have the verdicts
# valid, invalid, unsigned and unsupported. One delivery is pending, three are dead letters.
serve() {
  "$bin" serve --no-open --port 24400 --api-port 24401 --data-dir "$app" 2>>"$logs/app" &
  app_pid=$!
  pids+=("$app_pid")
  wait_for curl -fs http://127.0.0.1:24401/healthz
  sleep 1 # until commands can attach to it
}
ended() {
  kill -INT "$1"
  wait "$1" || true
}
python3 -m http.server 24300 --bind 127.0.0.1 --directory "$(mktemp -d)" >/dev/null 2>&1 &
pids+=($!)
printf %s 'earlier-github-secret' | "$bin" secret set github --data-dir "$app"
"$bin" source add paypal --provider paypal --param webhook_id=1EARLIER --data-dir "$app"
"$bin" source add shop --data-dir "$app"
printf %s 'earlier-shop-secret' | "$bin" secret set shop --data-dir "$app"
"$bin" source add plain --data-dir "$app"
serve
EARLIER=earlier-github-secret "$bin" send github push --secret-env EARLIER --to http://127.0.0.1:24400/github --data-dir "$app"
WRONG=wrong "$bin" send github push --secret-env WRONG --to http://127.0.0.1:24400/github --data-dir "$app"
curl -fsS -XPOST -d '{"id":"evt_1"}' -H 'X-GitHub-Event: push' -H 'X-GitHub-Delivery: forged-1' http://127.0.0.1:24400/github >/dev/null
# Two unsigned events with the same dedupe key but different bytes; the first one owns the key.
for amount in 1 2; do
  curl -fsS -XPOST -d "{\"id\":\"WH-EARLIER\",\"event_type\":\"PAYMENT.CAPTURE.COMPLETED\",\"amount\":$amount}" -H 'Content-Type: application/json' http://127.0.0.1:24400/paypal >/dev/null
done
# Plaid's header doesn't fit the source's secret. The verdict is `unsupported`, and the event owns its dedupe key.
curl -fsS -XPOST -d '{"webhook_type":"ITEM","webhook_code":"ERROR"}' -H 'Plaid-Verification: e30.e30.AA' http://127.0.0.1:24400/shop >/dev/null
printf '\x00\xff body' | curl -fsS -XPOST --data-binary @- -H 'X-Odd: a' -H 'x-odd: b' 'http://127.0.0.1:24400/plain/a//b?c=%2F' >/dev/null
curl -fsS -XPOST -d 'again' http://127.0.0.1:24400/plain >/dev/null
curl -fsS -XPOST -d 'again' http://127.0.0.1:24400/plain >/dev/null
curl -fsS -XPOST -d 'page' -H 'Origin: https://evil.example' http://127.0.0.1:24400/plain >/dev/null
curl -fsS -XPOST -d 'auto' http://127.0.0.1:24400/made-by-a-request >/dev/null
"$bin" target add plain http://127.0.0.1:24301/ --data-dir "$app"    # nothing listens there, so deliveries stay pending
"$bin" target add github http://127.0.0.1:24300/ --attempts 1 --data-dir "$app" # answers 501: dead letters
curl -fsS -XPOST -d 'waits for its target' http://127.0.0.1:24400/plain >/dev/null
EARLIER=earlier-github-secret "$bin" send github issues.opened --secret-env EARLIER --to http://127.0.0.1:24400/github --data-dir "$app"
"$bin" relay token create --store "sqlite:$relays/relay.db" | "$bin" tunnel add http://127.0.0.1:24410 --name in-sqlite --data-dir "$app"
"$bin" relay token create --store "$nats" | "$bin" tunnel add http://127.0.0.1:24411 --name in-nats --data-dir "$app"
wait_for bash -c "'$bin' tunnel status --json --data-dir '$app' | jq -se 'all(.state==\"connected\") and length==2'" 
for at in 24410/in-sqlite 24411/in-nats; do
  EARLIER=earlier-github-secret "$bin" send github push --secret-env EARLIER --to "http://127.0.0.1:$at/github" --data-dir "$app"
done
wait_for bash -c "[ \$('$bin' events --json --data-dir '$app' | jq -s '[.[]|select(.via==\"tunnel\")]|length') = 2 ]"
ended "$app_pid"
# Letters that wait: small ones, and one in parts.
head -c 700000 /dev/zero >"$relays/large"
for at in 24410/in-sqlite 24411/in-nats; do
  EARLIER=earlier-github-secret "$bin" send github push --secret-env EARLIER --to "http://127.0.0.1:$at/github" --data-dir "$relays/sender"
  curl -fsS -XPOST -d "waits at ${at#*/in-}" -H 'X-Odd: a' -H 'x-odd: b' "http://127.0.0.1:$at/plain/a//b?c=%2F" >/dev/null
done
# The NATS store splits letters into messages of at most 640 KiB, so this one has several parts.
curl -fsS -XPOST --data-binary "@$relays/large" http://127.0.0.1:24411/in-nats/plain >/dev/null
"$bin" events --json --data-dir "$app" >"$out/events.jsonl"
ended "$relay_on_sqlite"
ended "$relay_on_nats"
kill "${pids[0]}"; wait "${pids[0]}" || true
tar -C "$app" --owner=0 --group=0 --sort=name -czf "$out/app.tar.gz" .
tar -C "$relays" --owner=0 --group=0 --sort=name -czf "$out/relay-sqlite.tar.gz" relay.db
tar -C "$js" --owner=0 --group=0 --sort=name -czf "$out/relay-nats.tar.gz" .
