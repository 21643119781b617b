#!/usr/bin/env bash
# Sources that are compiled as one share their local names. Two sources of a group may give one name to two functions with other
# parameters: each then calls whichever fits better. And a local function hides a public one of its name from later sources.
# Prints one line for each such name. Usage: cmake/check_joined.sh ROOT BUILD-DIR
set -euo pipefail
export LC_ALL=C
cd "$1"
mapfile -t groups < <(grep -oE ' /[^ ]*/Unity/unity_[A-Za-z0-9_]*_cxx\.cxx' "$2/build.ninja" | tr -d ' ' | sort -u)
# Functions that headers declare outside classes.
grep -rhoE --include='*.h' '^(\[\[nodiscard\]\] )?(inline |constexpr |template <.*> )*[A-Za-z_][A-Za-z0-9_:<>,&* ]*[ *&][a-z][A-Za-z0-9_]*\(' \
  engine harness ops reports scaffold api fuzz | sed -E 's/.*[ *&]([a-z][A-Za-z0-9_]*)\($/\1/' | sort -u >"$2/public_names.txt"
for group in "${groups[@]}"; do
  mapfile -t sources < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$group")
  awk -v root="$PWD/" '
    FILENAME == ARGV[1] {public[$1] = 1; next}
    FNR == 1 {file = FILENAME; sub(root, "", file); order[++files] = file; local = 0; space = ""}
    /^namespace [a-z_:]+ \{/ {space = $2}
    /^namespace \{/ {local = 1}
    /^\}  \/\/ namespace$/ {local = 0}
    {sub(/\/\/.*/, ""); gsub(/"([^"\\]|\\.)*"/, "\"\"")}
    # A function at the first column, within an unnamed namespace or static.
    (local || /^static /) && match($0, /^[A-Za-z_][A-Za-z0-9_:<>,&* ]*[ *&][a-z][A-Za-z0-9_]*\(/) {
      name = substr($0, 1, RLENGTH - 1)
      sub(/.*[ *&]/, "", name)
      full = space "::" name
      if (name !~ /::/ && !((file, full) in mine)) {mine[file, full] = 1; owners[full] = owners[full] " " file}
    }
    {
      rest = $0
      while (match(rest, /[A-Za-z_.>:][A-Za-z0-9_.>:]*\(/)) {
        call = substr(rest, RSTART, RLENGTH - 1)
        if (call in public)
          # Names are looked for outwards from the namespace of the call.
          for (outer = space; outer != ""; outer = outer ~ /::/ ? substr(outer, 1, match(outer, /::[^:]*$/) - 1) : "")
            used[file, outer "::" call] = 1
        rest = substr(rest, RSTART + RLENGTH)
      }
    }
    END {
      for (name in owners) {
        print "local function"
        n = split(owners[name], list, " ")
        if (n > 1) print name ": local to" owners[name]
        for (i = 1; i <= files && order[i] != list[1]; ++i) {}
        for (++i; i <= files; ++i)
          if (((order[i], name) in used) && !((order[i], name) in mine)) print name ": local to " list[1] ", public in " order[i]
      }
    }' "$2/public_names.txt" "${sources[@]}"
done | sort >"$2/joined_names.txt"
found=$(grep -c '^local function$' "$2/joined_names.txt" || true) public=$(wc -l <"$2/public_names.txt")
[ "$found" -gt 1000 ] && [ "$public" -gt 500 ] || {
  echo "check_joined: ${#groups[@]} groups with $found local functions, $public public ones: too few to be true" >&2
  exit 2
}
! grep -v '^local function$' "$2/joined_names.txt"
