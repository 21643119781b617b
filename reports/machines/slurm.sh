#!/usr/bin/env bash
# One night in N shards, as an array of jobs of Slurm. The nodes share this folder. Merges the results into out/nightly.
# docs/machines.md has the details.
# Usage: reports/machines/slurm.sh N [-- OPTION...]
#   OPTION...  of ./nightly; --output and --history are for the merge
# Partition, account, time and devices come from sbatch's variables: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT,
# SBATCH_GRES. Exit code 1: a shard failed or is missing; the others are merged. 2: nothing was started.
set -uo pipefail
self=slurm.sh start=$PWD
cd "$(dirname "$0")/../.." || exit 2
. reports/machines/shards.sh
case ${1:-} in -h|--help) sed -n '2,/^set/s/^# //p' reports/machines/slurm.sh; exit 0 ;; esac
numberOfShards "${1:-}"
shift
[ $# -eq 0 ] || [ "$1" = -- ] || refuse "unknown argument '$1'; options of ./nightly come after --"
nightlyOptions "${@:2}"
command -v sbatch >/dev/null || refuse "sbatch is not installed (Debian: slurm-wlm; ./setup --machines installs it)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

forgetResults
sbatch --parsable --wait --array="1-$shards" --job-name=opkit-night --chdir="$PWD" --output="$(logOf %a)" \
  --wrap "exec ./nightly --shard \$SLURM_ARRAY_TASK_ID/$shards --night $night ${forShards[*]@Q}" \
  >"$scratch/job" 2>"$scratch/error" &
child=$! interrupted='' failed=false
# Each shard keeps what was done.
trap 'interrupted=1; scancel "$(cut -d";" -f1 "$scratch/job")"' INT TERM
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do code=0; wait "$child" || code=$?; done
job=$(cut -d';' -f1 "$scratch/job")
[ -n "$job" ] || refuse "the job was refused: $(tail -n 1 "$scratch/error")"
[ -z "$interrupted" ] || { echo "$self: interrupted; job $job is cancelled; $(folderOf I) holds what was done" >&2; exit 130; }
echo "$self: job $job ended; its logs are $(logOf I)"

# Slurm remembers the tasks of a job for some minutes; after that only sbatch's exit code is known.
[ $code = 0 ] || failed=true
while read -r part state exit; do
  echo "$self: shard $part/$shards: $state (exit code and signal $exit); its log is $(logOf "$part")" >&2
  failed=true
done < <(scontrol --oneliner show job "$job" 2>/dev/null |
  sed -nE '/ JobState=COMPLETED /!s/.* ArrayTaskId=([0-9]+) .* JobState=(\S+) .* ExitCode=(\S+) .*/\1 \2 \3/p' | sort -n)
mergeShards $failed
