#!/usr/bin/env bash
# Rehearses opkit-on-a-device on both software drivers: the first to its end, the second killed in the middle. Steps that the
# clock cuts are no fault; failures, and pages that are not whole, are.
# Usage: reports/night/device.sh BIN OUT
set -euo pipefail
bin=$1 out=$2
judge() {  # name: pages, and no failure
  local folder=$out/$1
  [ -s "$folder/index.html" ] && [ -s "$folder/device.md" ] || { echo "device: $1 has no page"; exit 1; }
  grep -q 'of the host' "$folder/device.md" || { echo "device: $1 measured no clock"; exit 1; }
  "$bin/op-report" build "$folder/results.jsonl" --output "$folder/again.html" >"$folder/verdict.txt"
  head -n 2 "$folder/verdict.txt"
  if grep '^RED' "$folder/verdict.txt"; then exit 1; fi
}
rm -rf "$out/first" "$out/second"
"$bin/opkit-on-a-device" "$out/first" --rehearse --seconds 330 || [ $? = 1 ]
judge first
"$bin/opkit-on-a-device" "$out/second" --rehearse --seconds 540 --driver "$(cmake/unpack_driver.sh mesa)" &
sleep 200
kill -s KILL $!
judge second
