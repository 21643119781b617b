#!/usr/bin/env bash
# Runs clang-tidy over every source of a configured and built tree except tests; any warning fails.
# Usage: cmake/run_clang_tidy.sh [--all | --since REVISION] BUILD-DIR [PATTERN]
#   PATTERN selects sources by path, for example ^engine/graph
# A source is skipped if it was clean before with the same content, headers, checks, command line and clang-tidy. The
# record is in OPKIT_TIDY_CACHE, by default ~/.cache/opkit-tidy. --all checks every source. --since checks the sources that
# changed after REVISION, and one source for each changed header that none of them includes.
set -euo pipefail
cd "$(dirname "$0")/.."
all=false
since=
[ "${1:-}" != --all ] || { all=true; shift; }
[ "${1:-}" != --since ] || { since=$(git rev-parse --verify --quiet "$2^{commit}") ||
  { echo "run_clang_tidy: there is no revision '$2'" >&2; exit 2; }; shift 2; }
build=$1
pattern=${2:-.}
cache=${OPKIT_TIDY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/opkit-tidy}
mkdir -p "$cache"
# A configuration that compiles every source alone: the build joins some. Nothing is built there; the generated headers
# are those of the build.
root=$PWD
mkdir -p "$build/tidy"
cmake -S . -B "$build/tidy/alone" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOPKIT_JOINED=OFF >"$build/tidy/configure.log" ||
  { cat "$build/tidy/configure.log" >&2; exit 2; }
# clang reads GCC's command lines without the precompiled header and the warnings that only GCC has.
sed -E 's/-include [^ ]*cmake_pch\.hxx//; s/-Winvalid-pch//; s/-fpch-preprocess//; s/-fvect-cost-model=[a-z]*//g; s/-Wno-(restrict|stringop-over[a-z]*|free-nonheap-object)//g' \
  "$build/tidy/alone/compile_commands.json" | sed -E "s#/tidy/alone/#/#g; s#-I([^ ]*/generated)#-isystem \1#g" \
  >"$build/tidy/compile_commands.json"
mapfile -t sources < <(git ls-files '*.cpp' | grep -v '_test\.cpp$' | grep -E "$pattern" |
  while IFS= read -r file; do ! grep -qF "$PWD/$file\"" "$build/tidy/compile_commands.json" || echo "$file"; done)
[ ${#sources[@]} -gt 0 ] || { echo "run_clang_tidy: no compiled source matches '$pattern'" >&2; exit 2; }

# From the build's dependencies of each object: "SOURCE HASH", where HASH covers the source and its headers of this
# tree. (Headers of the system change with the version of a package, which is part of the key below.)
contents() {
  cd "$build"
  ninja -t deps | awk '/^[^ ]/ {next} NF {print $1}' | grep -v '^/usr/' | sort -u | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
  done | xargs -0 sha256sum >tidy/hashes
  ninja -t deps | awk -v root="$root/" '
    FNR == NR {hash[substr($0, 67)] = $1; next}
    /^[^ ]/ {count = 0; text = ""; next}
    NF == 0 {for (i = 0; i < count; ++i) print sources[i], text; count = 0; next}
    $1 ~ /\.cpp$/ {source = $1; sub(/^\.\.\/\.\.\//, "", source); sub("^" root, "", source); sources[count++] = source}
    {if ($1 in hash) text = text hash[$1]}' tidy/hashes - | while read -r source text; do
    printf '%s %s\n' "$source" "$(printf %s "$text" | sha256sum | cut -c1-64)"
  done
}
# The sources that changed after REVISION; for each changed header that none of them includes, the first that does.
changed() {
  git diff --name-only "$since" >"$build/tidy/changed"
  ninja -C "$build" -t deps | awk -v root="$root/" '
    function close_object(   i, j) {
      for (i = 0; i < sources; ++i) {
        mine = source[i] in changed
        if (mine) print source[i]
        for (j = 0; j < headers; ++j) if (mine) seen[header[j]]; else if (!(header[j] in first)) first[header[j]] = source[i]
      }
      sources = headers = 0
    }
    FNR == NR {changed[$1]; next}
    NF == 0 {close_object(); next}
    /^[^ ]/ {next}
    {path = $1; sub(/^\.\.\/\.\.\//, "", path); sub("^" root, "", path)}
    path ~ /\.cpp$/ {source[sources++] = path; next}
    path in changed {header[headers++] = path}
    END {close_object(); for (path in first) if (!(path in seen)) print first[path]}' "$build/tidy/changed" -
}
declare -A content
while read -r source hash; do content[$source]=$hash; done < <(contents)
common=$({ clang-tidy --version; cat .clang-tidy cmake/run_clang_tidy.sh; dpkg-query -W -f '${Package} ${Version}\n' 2>/dev/null || true; } |
  sha256sum | cut -c1-64)
key() {  # the record's name for a source; empty where the build knows nothing of it
  local hash=${content[$1]:-}
  [ -n "$hash" ] || return 0
  local command
  command=$(grep -F -B 3 "\"file\": \"$root/$1\"" "$build/tidy/compile_commands.json" | sed "s|$root||g" | sha256sum | cut -c1-64)
  printf '%s %s %s %s' "$common" "$hash" "$command" "$1" | sha256sum | cut -c1-64
}

if [ -n "$since" ]; then
  mapfile -t sources < <(comm -12 <(printf '%s\n' "${sources[@]}" | sort) <(changed | sort -u))
fi
todo=()
for source in "${sources[@]}"; do
  record=$(key "$source")
  if $all || [ -z "$record" ] || [ ! -e "$cache/$record" ]; then todo+=("$source" "$cache/${record:-unknown}"); fi
done
# Each clean source is recorded at once, so that a failed or interrupted run is not lost.
look() {
  clang-tidy -p "$0" --quiet "$1" 2>/dev/null && : >"$2"
}
export -f look
[ ${#todo[@]} -eq 0 ] || printf '%s\0' "${todo[@]}" | xargs -0 -n 2 -P "$(nproc)" bash -c 'look "$@"' "$build/tidy"
rm -f "$cache/unknown"
find "$cache" -type f -mtime +30 -delete
echo "clang-tidy: ${#sources[@]} sources clean, $((${#sources[@]} - ${#todo[@]} / 2)) of them known to be"
