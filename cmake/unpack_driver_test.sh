#!/usr/bin/env bash
# unpack_driver.sh reports errors in one line, one driver's failure does not lose another's, and it needs no network once a
# driver is unpacked or Chromium is installed. Usage:
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
    --folder "$scratch/fetched" --archive http://127.0.0.1:9/debian --suite nightfall mesa
fi

# Archive and keyring come from apt's own configuration, and no package is installed.
mkdir "$scratch/bin"
printf '#!/bin/sh\n[ "$1" = indextargets ] && echo "http://127.0.0.1:9/own /keys/own.gpg"\n' >"$scratch/bin/apt-get"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch"/bin/*
for driver in mesa swiftshader; do
  PATH=$scratch/bin:$PATH refuses "of http://127.0.0.1:9/own" --folder "$scratch/signed" $driver
done
listed=$(cat "$scratch"/signed/{mesa,swiftshader}/apt/sources.list)
[ "$listed" = "deb [signed-by=/keys/own.gpg] http://127.0.0.1:9/own bookworm-backports main
deb [signed-by=/keys/own.gpg] http://127.0.0.1:9/own bookworm main" ] ||
  { echo "expected apt's archive and keyring, and a suite for each driver, got '$listed'"; failed=1; }

# An apt without sources is a line, not a silent end.
printf '#!/bin/sh\nexit 100\n' >"$scratch/bin/apt-get"
PATH=$scratch/bin:$PATH refuses "names no archive" --folder "$scratch/nameless" swiftshader
PATH=$scratch/bin:$PATH refuses "of http://127.0.0.1:9/given" --folder "$scratch/given" --archive http://127.0.0.1:9/given mesa

# prints EXPECTED CODE ARGUMENT...: these lines on stdout, and the exit code. What is printed on stderr is in $scratch/err.
prints() {
  local expected=$1 code=0 printed
  printed=$("$script" "${@:3}" --archive http://127.0.0.1:9 2>"$scratch/err") || code=$?
  [ "$printed" = "$expected" ] && [ $code -eq "$2" ] && return
  echo "unpack_driver ${*:3}: expected exit code $2 and '$expected', got $code and '$printed'"
  failed=1
}
mkdir "$scratch/unpacked"
touch "$scratch"/unpacked/{mesa,swiftshader}.json
prints "$scratch/unpacked/mesa.json"$'\n'"$scratch/unpacked/swiftshader.json" 0 --folder "$scratch/unpacked"
prints "$scratch/unpacked/mesa.json" 0 --folder "$scratch/unpacked" mesa

# One driver's failure is a line and leaves the other.
for driver in mesa swiftshader; do
  mkdir "$scratch/only-$driver"
  touch "$scratch/only-$driver/$driver.json"
  PATH=$scratch/bin:$PATH prints "$scratch/only-$driver/$driver.json" 2 --folder "$scratch/only-$driver"
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || { echo "expected one line of the failure, got:"; cat "$scratch/err"; failed=1; }
done

# An installed Chromium is copied from, without an archive. Any library stands for its own.
library=$(ldd "$(command -v bash)" | awk '$3 ~ /libc\.so/ {print $3}')
mkdir "$scratch/chromium"
cp "$library" "$scratch/chromium/libvk_swiftshader.so"
printf '#!/bin/sh\necho /usr/bin/other\necho "%s"\n' "$scratch/chromium/libvk_swiftshader.so" >"$scratch/bin/dpkg-query"
PATH=$scratch/bin:$PATH prints "$scratch/copied/swiftshader.json" 0 --folder "$scratch/copied" swiftshader
grep -qF "\"$scratch/copied/swiftshader/libvk_swiftshader.so\"" "$scratch/copied/swiftshader.json" ||
  { echo "expected a manifest of the copied library, got:"; cat "$scratch/copied/swiftshader.json"; failed=1; }
exit $failed
