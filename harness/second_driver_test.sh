#!/usr/bin/env bash
# harness/second_driver reports errors in one line and, once a driver is unpacked, needs no network. Usage:
# harness/second_driver_test.sh SCRATCH
set -euo pipefail
script=$(cd "$(dirname "$0")" && pwd)/second_driver
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
    echo "second_driver $*: expected exit code 2 and '$message', got $code and:"
    cat "$scratch/out" "$scratch/err"
    failed=1
  fi
}

refuses "unknown option '--sweet'" --sweet
refuses "--suite expects a value" --suite
refuses "cannot make the folder" --folder "$scratch/err/in-a-file"
if command -v apt-get >/dev/null; then
  refuses "cannot read suite 'nightfall' of http://127.0.0.1:9/debian" \
    --folder "$scratch/fetched" --archive http://127.0.0.1:9/debian --suite nightfall
fi

mkdir -p "$scratch/unpacked/root/usr/lib/here"
touch "$scratch/unpacked/driver.json" "$scratch/unpacked/root/usr/lib/here/libvulkan_lvp.so"
expected="VK_DRIVER_FILES=$scratch/unpacked/driver.json
VK_ICD_FILENAMES=$scratch/unpacked/driver.json
LD_LIBRARY_PATH=$scratch/unpacked/root/usr/lib/here"
printed=$(env -u LD_LIBRARY_PATH "$script" --folder "$scratch/unpacked" --archive http://127.0.0.1:9)
[ "$printed" = "$expected" ] || { echo "expected the environment"; echo "$expected"; echo "got"; echo "$printed"; failed=1; }
ran=$("$script" --folder "$scratch/unpacked" sh -c 'echo "$VK_DRIVER_FILES"')
[ "$ran" = "$scratch/unpacked/driver.json" ] || { echo "the command ran with VK_DRIVER_FILES=$ran"; failed=1; }
exit $failed
