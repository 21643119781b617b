#!/usr/bin/env bash
# clang-tidy over every source but the tests of a configured and built tree; any warning fails.
# Usage: cmake/run_clang_tidy.sh BUILD-DIR [PATTERN]   PATTERN selects sources by path, for example ^engine/graph
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
pattern=${2:-.}
# clang reads GCC's command lines but for the precompiled header and the warnings that only GCC has.
mkdir -p "$build/tidy"
sed -E 's/-include [^ ]*cmake_pch\.hxx//; s/-Winvalid-pch//; s/-fpch-preprocess//; s/-Wno-(restrict|stringop-overflow)//g; s/-I([^ ]*\/generated)/-isystem \1/g' \
  "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
mapfile -t sources < <(git ls-files '*.cpp' | grep -v '_test\.cpp$' | grep -E "$pattern" |
  while IFS= read -r file; do ! grep -qF "$PWD/$file\"" "$build/tidy/compile_commands.json" || echo "$file"; done)
[ ${#sources[@]} -gt 0 ] || { echo "run_clang_tidy: no compiled source matches '$pattern'" >&2; exit 2; }
printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy -p "$build/tidy" --quiet 2>/dev/null
echo "clang-tidy: ${#sources[@]} sources clean"
