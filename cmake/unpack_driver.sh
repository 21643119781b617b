#!/usr/bin/env bash
# Unpacks the software Vulkan device of a newer Mesa, from Debian's backports, beside the system's. Nothing is installed.
# Prints the manifest that --driver of every program takes. The first run needs the archive, later ones do not.
# Usage: cmake/unpack_driver.sh [--folder DIR] [--archive URL] [--suite NAME]
#   --folder DIR   where packages are unpacked (default: build/drivers)
#   --archive URL  the Debian archive (default: the first that the system's apt has); apt's keyring for that one signs it
#   --suite NAME   the suite (default: bookworm-backports)
set -euo pipefail

packages=(mesa-vulkan-drivers libdrm2)
folder=$(dirname "$0")/../build/drivers
archive=
suite=bookworm-backports

fail() { echo "unpack_driver: $*" >&2; exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --folder|--archive|--suite)
      [ $# -gt 1 ] || fail "$1 expects a value"
      declare "${1#--}=$2"
      shift 2 ;;
    -h|--help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
    *) fail "unknown argument '$1'; see cmake/unpack_driver.sh --help" ;;
  esac
done

# Runs apt-get with separate lists, cache and sources.
privateApt() {
  local state=$folder/apt
  apt-get -q -o "Dir::State=$state" -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache" \
    -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::status=/var/lib/dpkg/status \
    -o APT::Sandbox::User= -o APT::Update::Error-Mode=any -o Acquire::Retries=1 "$@" >>"$folder/log" 2>&1
}

fetch() {
  local first keyring options=
  first=$(apt-get indextargets --format '$(REPO_URI) $(SIGNED_BY)' 'Created-By: Packages' 2>/dev/null | head -n 1) ||
    true  # without sources, --archive still works
  archive=${archive:-${first%% *}}
  keyring=${first#* }
  [ "${keyring:0:1}" != / ] || options="[signed-by=$keyring] "  # else those that apt trusts
  [ -n "$archive" ] || fail "the system's apt names no archive; pass one with --archive"
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/packages" "$folder/root"
  : >"$folder/log"
  echo "deb $options$archive $suite main" >"$folder/apt/sources.list"
  privateApt update || fail "cannot read suite '$suite' of $archive; see $folder/log"
  (cd "$folder/packages" && privateApt download "${packages[@]/%//$suite}") ||
    fail "cannot fetch ${packages[*]} from suite '$suite' of $archive; see $folder/log"
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done
}

mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder '$folder'"
folder=$(cd "$folder" && pwd)
[ -w "$folder" ] || fail "cannot write into '$folder'"
manifest=$folder/mesa.json
if [ ! -f "$manifest" ]; then
  for tool in apt-get dpkg; do
    command -v $tool >/dev/null || fail "needs $tool, which this system lacks; unpack a driver by hand and pass its manifest with --driver"
  done
  fetch
  library=$(find "$folder/root" -name libvulkan_lvp.so)
  [ -n "$library" ] || fail "the packages of suite '$suite' hold no libvulkan_lvp.so; see $folder/root"
  missing=$(LD_LIBRARY_PATH=$(dirname "$library") ldd "$library" | awk '/not found/ {print $1}')
  [ -z "$missing" ] || fail "libraries that the driver needs are not installed: ${missing//$'\n'/, }"
  sed "s#\"library_path\": *\"[^\"]*\"#\"library_path\": \"$library\"#" \
    "$folder/root/usr/share/vulkan/icd.d/"lvp_icd*.json >"$manifest.new"
  mv "$manifest.new" "$manifest"
fi

echo "$manifest"
