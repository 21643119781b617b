#!/usr/bin/env bash
# Compiles every header alone, without the precompiled header: a header includes all that it uses.
# Usage: cmake/check_headers.sh BUILD-DIR [PATTERN]   PATTERN selects headers by path, for example ^engine/graph
# The build must be complete, since headers include generated ones.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
pattern=${2:-.}
# Parts of a source: code that Highway compiles once per instruction set, rows of macros.
parts='(/foreach_target|-inl)\.h$|^ops/.*_table\.h$'
mapfile -t headers < <(git ls-files '*.h' | grep -E "$pattern" | grep -vE "$parts")
[ ${#headers[@]} -gt 0 ] || { echo "check_headers: no header matches '$pattern'" >&2; exit 2; }
# The definitions of the tree's targets, and those that headers of tests expect.
flags="-std=c++20 -fsyntax-only -I. -I$build/generated -DFMT_SHARED -DHWY_SHARED_DEFINE -DOPKIT_HAS_VULKAN -DOPKIT_SOURCE_DIR=\"\" -DOPKIT_VALIDATION_TESTS=0 -DOPKIT_FAULTY=\"\" -DOPKIT_SAMPLES=\"\""
alone() {
  g++ $1 -x c++ -include "$2" /dev/null || echo "check_headers: $2 does not compile alone"
}
export -f alone
found=$(printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'alone "$0" {}' "$flags" 2>&1) || true
[ -z "$found" ] || { printf '%s\n' "$found" >&2; exit 1; }
echo "check_headers: ${#headers[@]} headers compile alone"
