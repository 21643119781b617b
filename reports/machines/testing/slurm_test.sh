#!/usr/bin/env bash
# An array of jobs of Slurm runs the shards of a night; merged they are the whole. The cluster is one node, set up in the
# scratch folder with its own keys and ports, and ends with the test.
# Usage: reports/machines/testing/slurm_test.sh SOURCE BIN SCRATCH
set -uo pipefail
self=machines_slurm source=$1 bin=$2 scratch=$3
PATH=$PATH:/usr/sbin
. "$source/reports/machines/testing/machines_tree.sh"
need slurm-wlm sbatch scontrol slurmctld slurmd
need munge munged
rm -rf "$scratch"
machinesTree "$scratch/tree"
cd "$scratch/tree" || exit 1
slurm=reports/machines/slurm.sh
. "$source/reports/machines/testing/slurm_cluster.sh"
trap stopCluster EXIT
trap 'exit 143' INT TERM

# Nothing of this is started.
refused() {  # PATTERN COMMAND...
  local pattern=$1
  shift
  started 2 refused.log "$@"
  says refused.log "^slurm.sh: $pattern"
  [ "$(wc -l <"$scratch/refused.log")" = 1 ] || fail "$*: more than one line"
}
refused "expected a number of shards from 1 to 9999, got 'two'" "$slurm" two
refused "unknown argument '--quick'; options of ./nightly come after --" "$slurm" 2 --quick
mkdir -p "$scratch/bare"
for tool in bash dirname date; do ln -sf "$(command -v $tool)" "$scratch/bare/"; done
refused 'sbatch is not installed' env PATH="$scratch/bare" bash "$slurm" 2
startCluster "$scratch/cluster" || { fail "the node does not come up: $(tail -n 5 "$scratch"/cluster/*.log)"; exit 1; }
refused 'the job was refused: .*[Ii]nvalid partition' env SBATCH_PARTITION=none "$slurm" 2

wholeNight
started 0 array.log "$slurm" 2 -- "${quick[@]}" --output merged --history merged.sqlite
says array.log '^slurm.sh: job [0-9]+ ended; its logs are out/nightly/shard-I-of-2.log$'
saysLast array.log '^Complete: '
mergedIsWhole "$bin" "$scratch/compared" whole/results.jsonl merged/results.jsonl out/nightly/shard-?-of-2/results.jsonl || bad=1
grep -q '^== op-harness check .*--shard=' out/nightly/shard-2-of-2.log || fail "the log of a shard lacks its steps"

killedShard . 2/2
started 1 killed.log "$slurm" 2 -- "${quick[@]}" --output killed --history killed.sqlite
says killed.log '^slurm.sh: shard 2/2: [A-Z_]+ \(exit code and signal 0:9\); its log is out/nightly/shard-2-of-2.log$'
saysLast killed.log '^INCOMPLETE: [0-9]+ of [0-9]+ planned cases \([0-9.]+ %\); [1-9] of [0-9]+ planned runs never began.$'
exit $bad
