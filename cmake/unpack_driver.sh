#!/usr/bin/env bash
# Unpacks software Vulkan devices beside the system's, from Debian's packages; nothing is installed. Mesa is a newer one, of
# the backports; SwiftShader is a part of Chromium, and copied where that is installed. Prints the manifests that --driver of
# every program takes, one per line. A driver that cannot be brought costs a line on stderr and the exit code 2, not the other
# driver. The first run needs the archive, later ones do not.
# Usage: cmake/unpack_driver.sh [--folder DIR] [--archive URL] [--suite NAME] [mesa] [swiftshader]
#   --folder DIR   where packages are unpacked (default: build/drivers)
#   --archive URL  the Debian archive (default: the first that the system's apt has); apt's keyring for that one signs it
#   --suite NAME   the suite of Mesa (default: bookworm-backports); SwiftShader is of the one without "-backports"
set -euo pipefail

folder=$(dirname "$0")/../build/drivers
archive=
suite=bookworm-backports
drivers=()

fail() { echo "unpack_driver: $*" >&2; exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --folder|--archive|--suite)
      [ $# -gt 1 ] || fail "$1 expects a value"
      declare "${1#--}=$2"
      shift 2 ;;
    mesa|swiftshader) drivers+=("$1"); shift ;;
    -h|--help) sed -n '2,9s/^# //p' "$0"; exit 0 ;;
    *) fail "unknown argument '$1'; see cmake/unpack_driver.sh --help" ;;
  esac
done

mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder '$folder'"
folder=$(cd "$folder" && pwd)
[ -w "$folder" ] || fail "cannot write into '$folder'"
[ ${#drivers[@]} -gt 0 ] || drivers=(mesa swiftshader)
if [ ${#drivers[@]} -gt 1 ]; then  # a process for each: what ends one leaves the other
  code=0
  for driver in "${drivers[@]}"; do
    "$0" --folder "$folder" --archive "$archive" --suite "$suite" "$driver" || code=2
  done
  exit $code
fi
driver=${drivers[0]}
manifest=$folder/$driver.json
own=$folder/$driver  # of this driver alone

# Runs apt-get with separate lists, cache and sources.
private_apt() {
  local state=$own/apt
  apt-get -q -o "Dir::State=$state" -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache" \
    -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::status=/var/lib/dpkg/status \
    -o APT::Sandbox::User= -o APT::Update::Error-Mode=any -o Acquire::Retries=1 "$@" >>"$own/log" 2>&1
}

# Fetches packages of the suite into $own/packages.
fetch() {
  local tool first keyring options=
  for tool in apt-get dpkg; do
    command -v $tool >/dev/null || fail "needs $tool, which this system lacks; unpack a driver by hand and pass its manifest with --driver"
  done
  first=$(apt-get indextargets --format '$(REPO_URI) $(SIGNED_BY)' 'Created-By: Packages' 2>/dev/null | head -n 1) ||
    true  # without sources, --archive still works
  archive=${archive:-${first%% *}}
  keyring=${first#* }
  [ "${keyring:0:1}" != / ] || options="[signed-by=$keyring] "  # else those that apt trusts
  [ -n "$archive" ] || fail "the system's apt names no archive; pass one with --archive"
  rm -rf "$own/packages"
  mkdir -p "$own/apt/lists/partial" "$own/apt/cache/archives/partial" "$own/packages" "$own/root"
  : >"$own/log"
  echo "deb $options$archive $suite main" >"$own/apt/sources.list"
  private_apt update || fail "cannot read suite '$suite' of $archive; see $own/log"
  (cd "$own/packages" && private_apt download "${@/%//$suite}") ||
    fail "cannot fetch $* from suite '$suite' of $archive; see $own/log"
}

# Fails if the library needs others that are neither installed nor beside it.
require_libraries() {
  local missing
  missing=$(LD_LIBRARY_PATH=$(dirname "$1") ldd "$1" | awk '/not found/ {print $1}')
  [ -z "$missing" ] || fail "libraries that $driver needs are not installed: ${missing//$'\n'/, }"
}

bring_mesa() {
  local library package
  fetch mesa-vulkan-drivers libdrm2
  for package in "$own"/packages/*.deb; do dpkg -x "$package" "$own/root"; done
  library=$(find "$own/root" -name libvulkan_lvp.so)
  [ -n "$library" ] || fail "the packages of suite '$suite' hold no libvulkan_lvp.so; see $own/root"
  require_libraries "$library"
  sed "s#\"library_path\": *\"[^\"]*\"#\"library_path\": \"$library\"#" \
    "$own/root/usr/share/vulkan/icd.d/"lvp_icd*.json >"$manifest.new"
}

# Of Chromium's 31 MB only the library stays, alone in a folder: programs also look for other libraries beside a driver, and
# Chromium has its own of Vulkan there.
bring_swiftshader() {
  local installed library=$own/libvk_swiftshader.so package
  mkdir -p "$own"
  installed=$(dpkg-query -L chromium-common 2>/dev/null | grep '/libvk_swiftshader\.so$') || true
  if [ -f "$installed" ]; then
    cp "$installed" "$library"
  else
    suite=${suite%-backports}
    fetch chromium-common
    for package in "$own"/packages/*.deb; do
      dpkg --fsys-tarfile "$package" | tar -x -O --wildcards '*/libvk_swiftshader.so' >"$library" 2>>"$own/log" ||
        fail "chromium-common of suite '$suite' holds no libvk_swiftshader.so; see $own/log"
    done
    rm -rf "$own/packages" "$own/apt" "$own/root"
  fi
  require_libraries "$library"
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$library" \
    >"$manifest.new"
}

if [ ! -f "$manifest" ]; then
  "bring_$driver"
  mv "$manifest.new" "$manifest"
fi
echo "$manifest"
