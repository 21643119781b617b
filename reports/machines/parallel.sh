#!/usr/bin/env bash
# One night in N shards, started by GNU parallel: on this machine, or on several over ssh. Merges the results into
# out/nightly. docs/machines.md has the details.
# Usage: reports/machines/parallel.sh N [--hosts FILE] [--folder DIR] [-- OPTION...]
#   --hosts FILE  one host a line, in the form of GNU parallel's --sshloginfile; a host runs one shard at a time
#   --folder DIR  the clone's folder on the hosts (that of this clone)
#   OPTION...     of ./nightly; --output and --history are for the merge
# Exit code 1: a shard failed or is missing; the others are merged. 2: nothing was started.
set -uo pipefail
self=parallel.sh start=$PWD
cd "$(dirname "$0")/../.." || exit 2
. reports/machines/shards.sh
case ${1:-} in -h|--help) sed -n '2,/^set/s/^# //p' reports/machines/parallel.sh; exit 0 ;; esac
numberOfShards "${1:-}"
shift
hosts='' folder=$PWD
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    --hosts)
      hosts=$(cd "$start" && realpath -e -- "${2:-}" 2>/dev/null) && [ -f "$hosts" ] && grep -q '^[^#]' "$hosts" ||
        refuse "--hosts expects a file with a host a line, got '${2:-}'"
      shift 2 ;;
    --folder) [[ ${2:-} = /* ]] || refuse "--folder expects an absolute path, got '${2:-}'"; folder=$2; shift 2 ;;
    *) refuse "unknown argument '$1'; options of ./nightly come after --" ;;
  esac
done
nightlyOptions "${@:2}"
parallel --version 2>/dev/null | grep '^GNU parallel' >/dev/null ||
  refuse "GNU parallel is not installed (Debian: parallel; ./setup --machines installs it)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The hosts that answer and have the tree; the others are named.
usableHosts() {
  local host code
  parallel --will-cite --nonall --sshloginfile "$hosts" --joblog "$scratch/answers" --timeout 60 \
    "test -x ${folder@Q}/nightly" </dev/null >/dev/null 2>&1
  while IFS=$'\t' read -r _ host _ _ _ _ code _; do
    case $code in
      0) echo "$host" ;;
      1) echo "$self: host $host has no ./nightly in $folder" >&2 ;;
      *) echo "$self: host $host cannot be reached (ssh ended with $code)" >&2 ;;
    esac
  done < <(tail -n +2 "$scratch/answers")
}
options=(--jobs "$shards")  # on this machine: all at once
if [ -n "$hosts" ]; then
  command -v rsync >/dev/null || refuse "rsync is not installed; it brings the results back"
  usableHosts >"$scratch/hosts"
  [ -s "$scratch/hosts" ] || refuse "no host can run a shard"
  options=(--jobs 1 --sshloginfile "$scratch/hosts" --wd "$folder" --return "$(folderOf '{}')/results.jsonl")
fi

forgetResults
# A signal reaches the shards, which keep what was done; then parallel ends.
parallel --will-cite --joblog "$scratch/log" --results "$(logOf '{}')" --termseq TERM,20000,KILL,25 "${options[@]}" \
  "./nightly --shard {}/$shards --night $night ${forShards[*]@Q} 2>&1" ::: $(seq "$shards") </dev/null >/dev/null &
child=$! interrupted=''
trap 'interrupted=1; kill -TERM $child; kill -TERM $child' INT TERM
while ! wait "$child" && kill -0 "$child" 2>/dev/null; do :; done
[ -z "$interrupted" ] || { echo "$self: interrupted; each shard keeps its results where it ran" >&2; exit 130; }
rm -f out/nightly/shard-*-of-"$shards".log.{err,seq}
failed=false
while IFS=$'\t' read -r part host _ _ _ _ code signal _; do
  [ "$code $signal" = "0 0" ] && continue
  echo "$self: shard $part/$shards failed on $host (exit code $code, signal $signal); its log is $(logOf "$part")" >&2
  failed=true
done < <(tail -n +2 "$scratch/log" | sort -n)
mergeShards $failed
