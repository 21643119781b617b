#!/usr/bin/env bash
# The day of ./nightly: a first night takes the day of the commit, further nights of a history the days after it, and --day
# reaches every step. Usage: harness/testing/nightly_day_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
. "$source/harness/testing/nightly_tree.sh"
nightlyTree "$source" "$bin" "$scratch/tree" Relu
cd "$scratch/tree"
bad=0
fail() { echo "nightly_day_test: $*" >&2; bad=1; }
# Only check leaves results; every step leaves its arguments.
cat >build/release/bin/op-harness <<EOF
#!/bin/sh
echo "\$*" >>'$scratch/steps'
[ "\$1" = check ] || exit 0
shift
exec '$bin/op-harness' check --op Relu --written --brief "\$@"
EOF
night() {  # arguments...
  : >"$scratch/steps"
  ./nightly "$@" >"$scratch/log" 2>&1
}
expect() {  # what, day
  grep -q "^check --backend cpu,vulkan --day $2 " "$scratch/steps" || fail "$1: expected day $2, got: $(head -n 1 "$scratch/steps" || cat "$scratch/log")"
  grep -q "^nightly: day $2; --day $2 repeats " "$scratch/log" || fail "$1: it does not say its day: $(head -n 1 "$scratch/log")"
}
# A clone whose commit is of 2026-01-02, that is day 20455.
git init -q . && git add nightly
GIT_COMMITTER_DATE='2026-01-02T23:59:00Z' git -c user.name=a -c user.email=a@b commit -qm a
night
expect 'a first night' 20455
night
expect 'a second night' 20456
night --history other.sqlite
expect 'another history' 20455
night --day 20470
expect '--day' 20470
grep -q "^conformance --backend cpu --shard=$((20470 % 4 + 1))/4 " "$scratch/steps" || fail '--day does not reach conformance'
first=$(grep -m1 '^model' "$scratch/steps")
night
expect 'a night after --day' 20471
[ "$(grep -m1 '^model' "$scratch/steps")" != "$first" ] || fail '--day does not reach the networks'
night --shard 1/2
expect 'a shard, which knows no history' 20455
# Without git: the time of the files.
rm -rf .git
touch -d 2026-03-04T12:00:00Z nightly
GIT_CEILING_DIRECTORIES=${PWD%/*} night --history archive.sqlite
expect 'an archive' 20516
exit $bad
