#!/usr/bin/env bash
# GNU parallel starts the shards of a night, on this machine and on hosts; merged they are the whole. A host is a second
# tree behind a stand-in for ssh. Usage: reports/machines/testing/parallel_test.sh SOURCE BIN SCRATCH
set -uo pipefail
self=machines_parallel source=$1 bin=$2 scratch=$3
. "$source/reports/machines/testing/machines_tree.sh"
# moreutils has another program of this name.
parallel --version 2>/dev/null | grep '^GNU parallel' >/dev/null || missing parallel 'GNU parallel'
need rsync rsync
rm -rf "$scratch"
mkdir -p "$scratch/home"
export PARALLEL_HOME=$scratch/home
machinesTree "$scratch/host"
machinesTree "$scratch/tree"
cd "$scratch/tree" || exit 1
parallel=reports/machines/parallel.sh

refused() {  # PATTERN ARGUMENT...
  local pattern=$1
  shift
  started 2 refused.log "$parallel" "$@"
  says refused.log "^parallel.sh: $pattern"
  [ "$(wc -l <"$scratch/refused.log")" = 1 ] || fail "$*: more than one line"
}
refused "expected a number of shards from 1 to 9999, got '0'" 0
refused "expected a number of shards from 1 to 9999, got ''"
refused "--hosts expects a file with a host a line, got 'none'" 2 --hosts none
refused "--folder expects an absolute path, got 'here'" 2 --folder here
refused "unknown argument '--quick'; options of ./nightly come after --" 2 --quick
refused "--shard is not an option here" 2 -- --shard 1/2
refused "--night expects a name" 2 -- --night 'a b'

wholeNight
started 0 local.log "$parallel" 2 -- "${quick[@]}" --output merged --history merged.sqlite
saysLast local.log '^Complete: '
mergedIsWhole "$bin" "$scratch/compared" whole/results.jsonl merged/results.jsonl out/nightly/shard-?-of-2/results.jsonl || bad=1
grep -q '^== op-harness check .*--shard=' out/nightly/shard-2-of-2.log || fail "the log of a shard lacks its steps"

# Hosts: one that cannot be reached, one without the tree, one that does the work. Its folder is the other tree.
cat >"$scratch/ssh" <<'EOF'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do case $1 in -l|-o|-p) shift 2 ;; -*) shift ;; *) break ;; esac; done
host=$1
shift
[ "${1:-}" != -- ] || shift
case $host in
  nowhere) echo "ssh: connect to host nowhere port 22: No route to host" >&2; exit 255 ;;
  empty) exit 1 ;;
esac
cd / && exec bash -c "$*"
EOF
chmod +x "$scratch/ssh"
export PARALLEL_SSH=$scratch/ssh
printf '# the machines of a night\nnowhere\nempty\nroot@worker\n' >"$scratch/hosts"
started 0 hosts.log "$parallel" 3 --hosts "$scratch/hosts" --folder "$scratch/host" -- "${quick[@]}" --output far --history far.sqlite
says hosts.log '^parallel.sh: host nowhere cannot be reached \(ssh ended with 255\)$'
says hosts.log "^parallel.sh: host empty has no ./nightly in $scratch/host\$"
[ -s "$scratch/host/out/nightly/shard-3-of-3/results.jsonl" ] || fail "the host did nothing"
mergedIsWhole "$bin" "$scratch/compared" whole/results.jsonl far/results.jsonl out/nightly/shard-?-of-3/results.jsonl || bad=1
printf 'nowhere\n' >"$scratch/hosts"
started 2 nobody.log "$parallel" 2 --hosts "$scratch/hosts" -- "${quick[@]}"
says nobody.log '^parallel.sh: no host can run a shard$'

# A shard that is killed is named, the others are merged.
killedShard . 2/2
started 1 killed.log "$parallel" 2 -- "${quick[@]}" --output killed --history killed.sqlite
says killed.log '^parallel.sh: shard 2/2 failed on .*; its log is out/nightly/shard-2-of-2.log$'
saysLast killed.log '^INCOMPLETE: [0-9]+ of [0-9]+ planned cases \([0-9.]+ %\); [1-9] of [0-9]+ planned runs never began.$'
exit $bad
