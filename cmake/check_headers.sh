#!/usr/bin/env bash
# Compiles every header alone, without the precompiled header: a header includes all that it uses.
# Usage: cmake/check_headers.sh [--since REVISION] BUILD-DIR [PATTERN]
#   PATTERN selects headers by path, for example ^engine/graph. --since selects those that changed after REVISION and
#   those that include one of them directly.
# The build must be complete, since headers include generated ones.
set -euo pipefail
cd "$(dirname "$0")/.."
since=
[ "${1:-}" != --since ] || { since=$(git rev-parse --verify --quiet "$2^{commit}") ||
  { echo "check_headers: there is no revision '$2'" >&2; exit 2; }; shift 2; }
build=$1
pattern=${2:-.}
# Parts of a source: code that Highway compiles once per instruction set, rows of macros.
parts='(/foreach_target|-inl)\.h$|^ops/.*_table\.h$'
mapfile -t headers < <(git ls-files '*.h' | grep -E "$pattern" | grep -vE "$parts")
[ ${#headers[@]} -gt 0 ] || { echo "check_headers: no header matches '$pattern'" >&2; exit 2; }
if [ -n "$since" ]; then
  changed=$(git diff --name-only "$since" -- '*.h')
  [ -n "$changed" ] || { echo "check_headers: no header changed"; exit 0; }
  mapfile -t headers < <({ printf '%s\n' "${headers[@]}" | grep -xF "$changed"
    grep -lF "$(sed 's/.*/#include "&"/' <<<"$changed")" "${headers[@]}"; } | sort -u)
  [ ${#headers[@]} -gt 0 ] || { echo "check_headers: no header to check changed"; exit 0; }
fi
# The definitions of the tree's targets, and those that headers of tests expect.
images=$(pkg-config --cflags-only-I libpng libopenjp2 2>/dev/null || true)
flags="-std=c++20 -fsyntax-only -I. -I$build/generated $images -DFMT_SHARED -DHWY_SHARED_DEFINE -DOPKIT_HAS_VULKAN -DOPKIT_SOURCE_DIR=\"\" -DOPKIT_VALIDATION_TESTS=0 -DOPKIT_FAULTY=\"\" -DOPKIT_SAMPLES=\"\""
alone() {
  g++ $1 -x c++ -include "$2" /dev/null || echo "check_headers: $2 does not compile alone"
}
export -f alone
found=$(printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'alone "$0" {}' "$flags" 2>&1) || true
[ -z "$found" ] || { printf '%s\n' "$found" >&2; exit 1; }
echo "check_headers: ${#headers[@]} headers compile alone"
