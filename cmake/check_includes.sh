#!/usr/bin/env bash
# The arrows of the architecture: scaffold, reports, harness -> ops -> engine, never back. Programs in engine/tools
# are leaves and may use anything. Operators use Vulkan only through its façade: no Vk* type in ops/. Usage:
# cmake/check_includes.sh ROOT
set -uo pipefail
cd "$1"
bad=0
forbid() {  # message, grep pattern, files...
  local message=$1 pattern=$2
  shift 2
  [ $# -gt 0 ] || { echo "check_includes: no files to check for: $message" >&2; exit 1; }
  if grep -nE "$pattern" "$@"; then
    echo "^ $message" >&2
    bad=1
  fi
}
list() { find "$@" -name '*.h' -o -name '*.cpp' | sort; }
mapfile -t engine < <(list engine | grep -v '^engine/tools/')
mapfile -t ops < <(list ops)
mapfile -t above < <(list harness reports)
forbid "engine/ may include engine/ only" '#include "(ops|harness|reports|scaffold)/' "${engine[@]}"
forbid "ops/ may include ops/ and engine/ only" '#include "(harness|reports|scaffold)/' "${ops[@]}"
forbid "an operator must not name Vulkan types" '\bVk[A-Z]|\bvk[A-Z][a-z]+\(|<vulkan/|\bvolk' "${ops[@]}"
forbid "harness/ and reports/ may not include programs" '#include "engine/tools/op_' "${above[@]}"
exit $bad
