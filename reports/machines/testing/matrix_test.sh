#!/usr/bin/env bash
# The commands of ci-matrix.yml, run here one job after another: the merged shards are the whole night.
# Usage: reports/machines/testing/matrix_test.sh SOURCE BIN SCRATCH
set -uo pipefail
self=machines_matrix source=$1 bin=$2 scratch=$3
. "$source/reports/machines/testing/machines_tree.sh"
python=
for candidate in /usr/bin/python3 python3; do  # Debian's, which sees Debian's packages
  [ -n "$python" ] || ! "$candidate" -c 'import yaml' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || missing python3-yaml "Python's module yaml"
rm -rf "$scratch"
machinesTree "$scratch/tree"
cd "$scratch/tree" || exit 1
printf '#!/bin/sh\n' >tools/apt-get
chmod +x tools/apt-get
quick=(--quick --night run-4711)
cp -r . "$scratch/alone" && cd "$scratch/alone" || exit 1  # the matrix gets a clean tree
wholeNight
matrix() { "$python" "$source/reports/machines/testing/run_matrix.py" "$source/reports/machines/ci-matrix.yml" "$scratch/tree" "$@"; }

mkdir "$scratch/all"
started 0 all.log matrix "$scratch/all"
merged=$scratch/all/artifacts/night
[ -s "$merged/index.html" ] || fail "the merge made no page"
mergedIsWhole "$bin" "$scratch/compared" whole/results.jsonl "$merged/results.jsonl" "$scratch"/all/artifacts/shard-*/results.jsonl || bad=1
[ "$(ls -d "$scratch"/all/artifacts/shard-* | wc -l)" = 3 ] || fail "expected three shards"

# A shard that is killed, and one whose machine was lost: the others make the page.
killedShard "$scratch/tree" 2/3
mkdir "$scratch/less"
started 1 less.log matrix "$scratch/less" --lose shard-3
says less.log "^run_matrix: shard-2: './nightly .* --shard 2/3' ended with "
[ -s "$scratch/less/artifacts/night/index.html" ] || fail "a shard was killed: no page"
saysLast less/merge.log '^INCOMPLETE: [0-9]+ of [0-9]+ planned cases .* planned runs never began, 1 of 3 shards is missing, first 3/3.$'
exit $bad
