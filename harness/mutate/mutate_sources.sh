#!/usr/bin/env bash
# Breaks oracles, rows of tables, lowerings and shape rules, one expression at a time, and asks `op-harness check` of
# their operators to notice. `op-harness mutate` breaks kernels; this breaks what they are compared with, and what all
# backends share. Works in a copy of the tree, which is kept for the next run.
# Usage: harness/mutate/mutate_sources.sh [--count N] [--seed N] [--only PATTERN] [--least PERCENT] [--copy DIR] [--list]
#   --count N        mutants to try (12); those that do not compile are not counted
#   --seed N         draws the mutants (the day's number)
#   --only PATTERN   files whose path matches
#   --least PERCENT  fail if fewer are killed (80); survivors are listed in any case
#   --copy DIR       the copy (out/mutants)
#   --list           print the mutants that would be tried, and end
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
count=12 seed=$(($(date +%s) / 86400)) only=. least=80 copy=$root/out/mutants list=
((seed >= 0)) || seed=0  # by a wrong clock
while [ $# -gt 0 ]; do
  case $1 in
    --list) list=1; shift; continue ;;
    -h|--help) sed -n '2,12s/^# //p' "$0"; exit 0 ;;
  esac
  [ $# -ge 2 ] || { echo "mutate_sources: unknown argument or missing value: '$1'; see --help" >&2; exit 2; }
  case $1 in
    --count|--seed|--least)
      [[ $2 =~ ^[0-9]{1,6}$ ]] || { echo "mutate_sources: $1 expects a number, got '$2'" >&2; exit 2; } ;;&
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --least) least=$2 ;;
    --only) only=$2 ;;
    --copy) copy=$(realpath -m -- "$2") ;;
    --*) [[ $1 =~ ^--(count|seed|least|only|copy)$ ]] ||
      { echo "mutate_sources: unknown argument '$1'; see --help" >&2; exit 2; } ;;
    *) echo "mutate_sources: unknown argument '$1'; see --help" >&2; exit 2 ;;
  esac
  shift 2
done

# All mutants of the sources as lines "file TAB line TAB new text", in an order drawn by the seed. A source of kernels has
# mutants only where it is a lowering. Lines of messages, facts and preprocessor are left alone.
mutants() {
  local files
  mapfile -t files < <(cd "$1" && { ls ops/*/*_reference.cpp ops/*/*_table.h ops/*/*_loop.cpp
    for folder in ops/*/; do ls "$folder$(basename "$folder").cpp" 2>/dev/null || true; done; } | sort -u | grep -E "$only")
  [ ${#files[@]} -gt 0 ] || { echo "mutate_sources: no source matches '$only'" >&2; exit 2; }
  (cd "$1" && awk -v seed="$seed" '
    function edit(pattern, text) { from[++count] = pattern; to[count] = text }
    BEGIN {
      srand(seed)
      edit(" [+] ", " - "); edit(" - ", " + "); edit(" [*] ", " + "); edit(" / ", " * "); edit(" % ", " / ")
      edit(" < ", " <= "); edit(" <= ", " < "); edit(" > ", " >= "); edit(" >= ", " > ")
      edit(" == ", " != "); edit(" != ", " == "); edit(" && ", " || "); edit(" [|][|] ", " && ")
      edit("\\[0\\]", "[1]"); edit("\\[1\\]", "[0]"); edit("[(, -]0[;,) ]", "1"); edit("[(, -]1[;,) ]", "2")
      edit("true", "false"); edit("false", "true")
    }
    FNR == 1 { inside = FILENAME !~ /_table\.h$/ ? 0 : 1 }
    /^(void define|#define ORACLE|  \/\/ clang-format on)/ { inside = 0 }
    /^double .*[fF]lops/ { inside = 0 }
    /^}/ { inside = FILENAME !~ /_table\.h$/ }
    /^namespace \{|^namespace opkit::ops|clang-format off/ { inside = 1 }
    !inside || /^ *\/\// || /^#/ || /invalidArgument|unsupported\(|internal\(|template|constexpr|toString|registry\./ { next }
    {
      code = $0
      sub(/ *\/\/ .*/, "", code)
      for (i = 1; i <= count; ++i) {
        if (!match(code, from[i])) continue
        found = substr(code, RSTART, RLENGTH)
        made = to[i]
        if (to[i] ~ /^[12]$/) made = substr(found, 1, 1) to[i] substr(found, RLENGTH)
        made = substr(code, 1, RSTART - 1) made substr(code, RSTART + RLENGTH)
        printf "%d\t%s\t%d\t%s\n", rand() * 1e9, FILENAME, FNR, made
      }
    }' "${files[@]}") | sort -n | cut -f2-
}

if [ -n "$list" ]; then
  mutants "$root" | sed -n "1,${count}p"
  exit 0
fi

# shellcheck source=cmake/scratch_tree.sh
source "$root/cmake/scratch_tree.sh"
vulkan=$(sed -n 's/^OPKIT_VULKAN:BOOL=//p' "$root/build/release/CMakeCache.txt" 2>/dev/null || true)
vulkan=${vulkan:-ON}
backends=cpu
[ "$vulkan" = OFF ] || backends=cpu,vulkan
if [ -d "$copy/build" ]; then  # the sources of today over the build of before
  mv "$copy/build" "$copy.build"
  trap '[ ! -d "$copy.build" ] || mv "$copy.build" "$copy/build"' EXIT
  scratch_copy "$root" "$copy"
  mv "$copy.build" "$copy/build"
  # A run that was killed left the object of its mutant, which is newer than the whole source.
  [ ! -s "$copy.broken" ] || touch "$(cat "$copy.broken")"
  scratch_settle
else
  scratch_make "$root" "$root/build/release" "$copy" "$vulkan" OFF
fi
rm -f "$copy.broken"
cd "$copy"
harness=build/release/bin/op-harness

operators_of() {  # of a folder: the names in its cases
  grep -o '"op": *\(\[[^]]*\]\|"[^"]*"\)' "ops/$1/$1.cases.json" | grep -o '"[A-Z][^"]*"' | tr -d '"' | sort -u | paste -sd,
}
checked() {  # operators of a folder
  timeout 600 "$harness" check --op "$(operators_of "$1")" --backend "$backends" >"$copy.log" 2>&1
}
declare -A sound  # folders whose operators pass unbroken; else every mutant would be killed
tried=0 killed=0
while [ "$tried" -lt "$count" ] && IFS=$'\t' read -r -u3 file line text; do
  folder=$(cut -d/ -f2 <<<"$file")
  [ -e "ops/$folder/$folder.cases.json" ] || continue
  original=$(sed -n "${line}p" "$file")
  [ "$text" != "$original" ] || continue
  if [ -z "${sound[$folder]:-}" ]; then
    checked "$folder" || {
      grep -m 3 '^fail ' "$copy.log" >&2 || tail -n 3 "$copy.log" >&2
      echo "mutate_sources: the operators of ops/$folder fail before anything is broken" >&2
      exit 2
    }
    sound[$folder]=1
  fi
  cp -p "$file" "$copy.original"
  echo "$file" >"$copy.broken"
  awk -v line="$line" -v text="${text//\\/\\\\}" 'NR == line { print text; next } { print }' "$copy.original" >"$file"
  outcome='does not compile'
  if cmake --build --preset release --target op-harness >"$copy.log" 2>&1; then
    tried=$((tried + 1))
    outcome=killed
    if checked "$folder"; then outcome=survived; else killed=$((killed + 1)); fi
  fi
  cp "$copy.original" "$file"
  rm "$copy.broken"
  echo "$outcome $file:$line"
  [ "$outcome" != survived ] || printf '  -%s\n  +%s\n' "$original" "$text"
done 3< <(mutants "$root")
scratch_settle
scratch_unchanged
[ "$tried" -gt 0 ] || { echo "mutate_sources: no mutant compiled" >&2; exit 2; }
echo "mutate_sources: $killed of $tried killed, seed $seed"
[ $((100 * killed)) -ge $((least * tried)) ] || { echo "mutate_sources: expected at least $least %" >&2; exit 1; }
