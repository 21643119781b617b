#!/usr/bin/env bash
# The full night in parts of at most 12 minutes on two cores, for machines without a whole free night. Together the parts are
# everything that ./test leaves out and ./nightly runs.
# Usage: ./nightly --full --parts             lists the parts: estimated minutes, last run, verdict
#        ./nightly --full                     builds, runs every part, one after another
#        ./nightly --full --part NAME|next    builds, runs one part, adds a line to reports/nights.md; `next` takes the part
#                                             that ran longest ago
#        reports/night/parts.sh --stale DAYS  prints the parts without a line of the last DAYS days
# Results and log: out/parts/NAME. A part that takes over 30 minutes is cut and counts as red.
set -euo pipefail
cd "$(dirname "$0")/../.."
ledger=${OPKIT_NIGHTS:-reports/nights.md}
bin=build/release/bin
day=$(($(date +%s) / 86400))
((day >= 0)) || day=0  # by a wrong clock
limit=1800
refuse() { echo "nightly: $*" >&2; exit 2; }

names=()
declare -A minutes commands
part() {  # name, estimated minutes, command
  names+=("$1")
  minutes[$1]=$2
  commands[$1]=$3
}
# shards NAME COUNT MINUTES COMMAND: parts NAME-1 to NAME-COUNT of a command that takes --shard.
shards() {
  local i
  for ((i = 1; i <= $2; ++i)); do part "$1-$i" "$3" "$4 --shard $i/$2"; done
}
# harness NAME COUNT MINUTES ARGUMENTS: the same for op-harness, which adds to the results of the part.
harness() { shards "$1" "$2" "$3" "$bin/op-harness $4 --json \$out/results.jsonl"; }
. reports/night/table.sh
# First parts of all kinds, then second ones, so that a few runs see something of everything.
mapfile -t names < <(printf '%s\n' "${names[@]}" | awk -F- '{print ($NF ~ /^[0-9]+$/ ? $NF : 1), NR, $0}' | sort -n -k1,1 -k2,2 | cut -d' ' -f3)

# The last line of each part in the ledger: | date | commit | instruction set | part | verdict | minutes |
declare -A dates verdicts places
read_ledger() {
  [ -e "$ledger" ] || return 0
  local date part verdict place=0 commit instructions rest
  while IFS='|' read -r _ date commit instructions part verdict rest; do
    place=$((place + 1)) part=${part// /}
    [[ $date =~ ^\ [0-9-]+\ $ ]] || continue
    dates[$part]=${date// /} verdict=${verdict# } verdicts[$part]=${verdict% } places[$part]=$place
  done <"$ledger"
}
is_known() { [ -n "${1:-}" ] && [ -n "${commands[$1]+there}" ]; }

list() {
  local name
  printf '%-22s %7s  %-10s  %s\n' part minutes 'last run' verdict
  for name in "${names[@]}"; do
    printf '%-22s %7s  %-10s  %s\n' "$name" "${minutes[$name]}" "${dates[$name]:-never}" "${verdicts[$name]:-}"
  done
}

# The first part without a line; else the part whose last line is the oldest.
next() {
  local name best=${names[0]}
  for name in "${names[@]}"; do
    [ "${places[$name]:-0}" -ge "${places[$best]:-0}" ] || best=$name
  done
  echo "$best"
}

stale() {
  local name oldest old=()
  oldest=$(date -u -d "$1 days ago" +%F)
  for name in "${names[@]}"; do
    [[ -n ${dates[$name]:-} && ! ${dates[$name]} < $oldest ]] || old+=("$name")
  done
  [ ${#old[@]} -eq 0 ] || echo "parts of the full night without a run in $1 days: ${#old[@]} of ${#names[@]}:" \
    "${old[*]:0:6}$([ ${#old[@]} -le 6 ] || echo " ...") (./nightly --full --part next)"
}

# The widest instruction set that the CPU kernels use.
instructions() {
  local name
  for name in avx512f avx2 asimd; do ! grep -qwm1 "$name" /proc/cpuinfo || { echo "$name"; return; }; done
  uname -m
}

run_part() {
  local name=$1 code=0 began=$SECONDS verdict=green commit tenths
  export out=out/parts/$name bin day
  rm -rf "$out"
  mkdir -p "$out"
  commit=$(git rev-parse --short HEAD)$([ -z "$(git status --porcelain --untracked-files=no -- . ':!reports/nights.md')" ] || echo +)
  echo "nightly: part $name, about ${minutes[$name]} minutes; log: $out/log"
  timeout -k 20 "$limit" bash -euo pipefail -c "${commands[$name]}" </dev/null >"$out/log" 2>&1 || code=$?
  case $code in
    0) ;;
    124 | 137) verdict="red: cut after $((limit / 60)) minutes" ;;
    *) verdict="red: exit code $code" ;;
  esac
  tail -n 12 "$out/log"
  [ -e "$ledger" ] || printf '# Parts of the full night\n\nEach run of `./nightly --full --part` adds a line.\n\n| date | commit | instruction set | part | verdict | minutes |\n|---|---|---|---|---|--:|\n' >"$ledger"
  tenths=$(((SECONDS - began + 3) / 6))
  printf '| %s | %s | %s | %s | %s | %s |\n' "$(date -u +%F)" "$commit" "$(instructions)" "$name" "$verdict" \
    "$((tenths / 10)).$((tenths % 10))" >>"$ledger"
  tail -n 1 "$ledger"
  [ $code = 0 ] || { echo "nightly: part $name failed; again: ./nightly --full --part $name" >&2; return 1; }
}

read_ledger
case "${1:-}" in
  --list) list ;;
  --next) next ;;
  --stale) stale "${2:-30}" ;;
  --check) is_known "${2:-}" || [ "${2:-}" = next ] || refuse "--part expects a name of ./nightly --full --parts, got '${2:-}'" ;;
  --run)
    name=${2:-}
    if [ "$name" = all ]; then
      bad=0
      for name in "${names[@]}"; do run_part "$name" || bad=1; done
      exit $bad
    fi
    [ "$name" != next ] || name=$(next)
    is_known "$name" || refuse "--part expects a name of ./nightly --full --parts, got '$name'"
    run_part "$name" ;;
  *) refuse "parts.sh: expected --list, --next, --stale, --check or --run, got '${1:-}'" ;;
esac
