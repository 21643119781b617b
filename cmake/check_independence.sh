#!/usr/bin/env bash
# An oracle, and what a card says is hidden, shares no expression with what is compared with it. Three rules, one line per violation:
#   1. No file with expressions is included by an oracle and by a kernel, lowering or shader.
#   2. No kernel calls an oracle, no oracle a kernel.
#   3. No function is called by both.
# cmake/shared_with_oracles.txt lists the exceptions to rules 1 and 3, each with its reason. An entry that is not needed
# is a violation too.
# Usage: cmake/check_independence.sh ROOT BUILD-DIR   the libraries of BUILD-DIR must be built
set -euo pipefail
export LC_ALL=C
root=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources() { { find "$@" -name "*.cpp" ! -name "*_test.cpp" 2>/dev/null || true; } | sort; }
sources ops engine/op | grep -E '_(reference|hidden)\.cpp$' >"$work/oracles"
{ sources ops | grep -vE '_(reference|hidden|onnx|passes)\.cpp$'
  sources engine/backend/cpu engine/backend/host engine/backend/vulkan
  { find shaders -name "*.comp" 2>/dev/null || true; } | sort; } >"$work/kernels"
for list in oracles kernels; do
  [ -s "$work/$list" ] || { echo "check_independence: found no $list below $root" >&2; exit 2; }
done
grep -vE '^(#|$)' cmake/shared_with_oracles.txt >"$work/exceptions" || true

# Rule 1: for each file that both sides include, directly or not, its first line that computes something.
shared_files() {
  awk -v build="$build/generated" '
    function readable(path,  line, found) { found = (getline line < path) >= 0; close(path); return found }
    function resolved(name, from) {
      sub(/[^\/]*$/, "", from)
      if (readable(name)) return name
      if (readable(build "/" name)) return build "/" name
      if (readable("shaders/include/" name)) return "shaders/include/" name
      if (readable(from name)) return from name
      return ""
    }
    function scan(path,  line, text, inner) {  # includes, and the first expression
      expression[path] = ""
      includes[path] = ""
      for (number = 1; (getline line < path) > 0; ++number) {
        if (line ~ /^#include "/) {
          split(line, quoted, "\"")
          inner = resolved(quoted[2], path)
          if (inner != "") includes[path] = includes[path] inner "\n"
        }
        text = line
        gsub(/"([^"\\]|\\.)*"/, "", text)
        sub(/\/\/.*/, "", text)
        if (expression[path] == "" && (text ~ /(^|[^A-Za-z_])(return|for|while|if|switch)([^A-Za-z_]|$)/ && text !~ /^#/ ||
            text ~ /^# *define +[A-Za-z_]+\(/ || text ~ /^[A-Z][A-Z0-9_]+\(/))
          expression[path] = number ": " line
      }
      close(path)
    }
    function visit(path, side, source,  names, count, i) {
      if ((side, path) in seen) return
      seen[side, path] = source
      if (!(path in includes)) scan(path)
      count = split(includes[path], names, "\n")
      for (i = 1; i < count; ++i) visit(names[i], side, source)
    }
    FILENAME ~ /oracles$/ { visit($0, "oracle", $0); next }
    { visit($0, "kernel", $0) }
    END {
      for (key in seen) {
        split(key, part, SUBSEP)
        if (part[1] != "oracle" || !(("kernel", part[2]) in seen) || expression[part[2]] == "") continue
        path = part[2]
        sub("^" build "/", "", path)
        print path "\t" seen["oracle", part[2]] "\t" seen["kernel", part[2]] "\t" expression[part[2]]
      }
    }' "$work/oracles" "$work/kernels" | sort
}

# Rules 2 and 3: the symbols of the objects. Cards name the oracle; they have no kernels.
awk -v root="$root/" '/^build [^ ]*\.o: CXX_COMPILER/ {  # lines "source TAB object" of the build; of a joined source, that of its group
  object = $2
  sub(/:$/, "", object)
  if ($4 !~ /\/Unity\//) { print substr($4, length(root) + 1) "\t" object; next }
  while ((getline line < $4) > 0)
    if (split(line, quoted, "\"") == 3) print substr(quoted[2], length(root) + 1) "\t" object
  close($4)
}' "$build/build.ninja" | grep -E "CMakeFiles/opkit_(ops|engine|foundation)\.dir/" | sort -u >"$work/compiled" || true
objects_of() { sort -u | join -t $'\t' -o 2.2 - "$work/compiled" | sort -u | sed "s|^|$build/|"; }
symbols() {  # nm option, objects: lines "function TAB source"
  local option=$1
  shift
  nm -A -C "$option" "$@" 2>/dev/null | awk -v prefix="$build/" '{
    at = index($0, ".o:")
    source = substr($0, length(prefix) + 1, at - length(prefix) - 1)
    sub(/CMakeFiles\/[a-z_]*\.dir\//, "", source)
    rest = substr($0, at + 3)
    if (match(rest, /^ *[0-9a-f]* *[A-Za-z] /) == 0) next
    kind = substr(rest, RLENGTH - 1, 1)
    name = substr(rest, RLENGTH + 1)
    sub(/\(.*/, "", name)
    sub(/\[abi:.*/, "", name)
    if (kind ~ /[TUDBR]/ && name ~ /^opkit::/) print name "\t" source
  }' | sort -u
}
is_card() { awk -F/ '{ stem = $3; sub(/\.cpp(\.o)?$/, "", stem); exit $1 == "ops" && $2 == stem ? 0 : 1 }' <<<"$1"; }
without_cards() { while IFS= read -r source; do is_card "$source" || echo "$source"; done; }

mapfile -t oracle_objects < <(objects_of <"$work/oracles")
mapfile -t kernel_objects < <(without_cards <"$work/kernels" | objects_of)
[ ${#oracle_objects[@]} -gt 0 ] && [ ${#kernel_objects[@]} -gt 0 ] ||
  { echo "check_independence: $build holds no objects of oracles and kernels; build it first" >&2; exit 2; }
for object in "${oracle_objects[@]}" "${kernel_objects[@]}"; do
  [ -e "$object" ] || { echo "check_independence: $object is missing; build it first" >&2; exit 2; }
done
symbols --defined-only "${oracle_objects[@]}" >"$work/oracle_has"
symbols --undefined-only "${oracle_objects[@]}" >"$work/oracle_calls"
symbols --defined-only "${kernel_objects[@]}" >"$work/kernel_has"
symbols --undefined-only "${kernel_objects[@]}" >"$work/kernel_calls"

bad=0
violation() { echo "$1"; bad=1; }
: >"$work/used"
is_excepted() {  # name; notes the entry
  local entry
  while IFS= read -r entry; do
    # shellcheck disable=SC2053
    if [[ $1 == ${entry%% *} ]]; then
      echo "$entry" >>"$work/used"
      return 0
    fi
  done <"$work/exceptions"
  return 1
}
while IFS=$'\t' read -r path oracle kernel expression; do
  is_excepted "$path" || violation "$path:$expression -- included by $oracle and by $kernel"
done < <(shared_files)
while IFS=$'\t' read -r function oracle kernel; do
  violation "$kernel calls $function of the oracle $oracle"
done < <(join -t $'\t' "$work/oracle_has" "$work/kernel_calls" | sort -u)
while IFS=$'\t' read -r function kernel oracle; do
  violation "the oracle $oracle calls $function of $kernel"
done < <(join -t $'\t' "$work/kernel_has" "$work/oracle_calls" | sort -u)
while IFS=$'\t' read -r function oracle kernel; do
  is_excepted "$function" || violation "$function is called by $oracle and by $kernel"
done < <(join -t $'\t' "$work/oracle_calls" "$work/kernel_calls" | awk -F'\t' '!seen[$1]++')
while IFS= read -r entry; do
  grep -qxF -- "$entry" "$work/used" || violation "cmake/shared_with_oracles.txt: nothing shares ${entry%% *}"
done <"$work/exceptions"
exit $bad
