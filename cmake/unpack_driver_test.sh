#!/usr/bin/env bash
# unpack_driver.sh reports errors in one line, and needs no network once a driver is unpacked. Usage:
# cmake/unpack_driver_test.sh SCRATCH
set -euo pipefail
script=$(cd "$(dirname "$0")" && pwd)/unpack_driver.sh
scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch"
failed=0

# refuses MESSAGE ARGUMENT...: exit code 2, nothing on stdout, one line with MESSAGE on stderr.
refuses() {
  local message=$1 code=0
  shift
  "$script" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ $code -ne 2 ] || [ -s "$scratch/out" ] || [ "$(wc -l <"$scratch/err")" -ne 1 ] || ! grep -qF -- "$message" "$scratch/err"; then
    echo "unpack_driver $*: expected exit code 2 and '$message', got $code and:"
    cat "$scratch/out" "$scratch/err"
    failed=1
  fi
}

refuses "unknown argument '--sweet'" --sweet
refuses "--suite expects a value" --suite
refuses "cannot make the folder" --folder "$scratch/err/in-a-file"
if command -v apt-get >/dev/null; then
  refuses "cannot read suite 'nightfall' of http://127.0.0.1:9/debian" \
    --folder "$scratch/fetched" --archive http://127.0.0.1:9/debian --suite nightfall
fi

# Archive and keyring come from apt's own configuration.
mkdir "$scratch/bin"
printf '#!/bin/sh\n[ "$1" = indextargets ] && echo "http://127.0.0.1:9/own /keys/own.gpg"\n' >"$scratch/bin/apt-get"
chmod +x "$scratch/bin/apt-get"
PATH=$scratch/bin:$PATH refuses "of http://127.0.0.1:9/own" --folder "$scratch/signed"
listed=$(cat "$scratch/signed/apt/sources.list")
[ "$listed" = "deb [signed-by=/keys/own.gpg] http://127.0.0.1:9/own bookworm-backports main" ] ||
  { echo "expected apt's archive and keyring, got '$listed'"; failed=1; }

# An apt without sources is a line, not a silent end.
printf '#!/bin/sh\nexit 100\n' >"$scratch/bin/apt-get"
PATH=$scratch/bin:$PATH refuses "names no archive" --folder "$scratch/nameless"
PATH=$scratch/bin:$PATH refuses "of http://127.0.0.1:9/given" --folder "$scratch/given" --archive http://127.0.0.1:9/given

mkdir "$scratch/unpacked"
touch "$scratch/unpacked/mesa.json"
printed=$("$script" --folder "$scratch/unpacked" --archive http://127.0.0.1:9)
[ "$printed" = "$scratch/unpacked/mesa.json" ] || { echo "expected the manifest's path, got '$printed'"; failed=1; }
exit $failed
