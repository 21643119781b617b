# What the tests of the starters share: the tools they need, a short tree, the checks. Sourced with `self`, `source`,
# `bin` and `scratch` set.
. "$source/harness/testing/nightly_tree.sh"
bad=0
fail() { echo "$self: $*" >&2; bad=1; }

# need PACKAGE PROGRAM...: without one of the programs the test is skipped; with OPKIT_REQUIRE_MACHINES=1 it fails.
need() {
  local package=$1 program
  shift
  for program in "$@"; do
    command -v "$program" >/dev/null || missing "$package" "$program"
  done
}
missing() {
  [ "${OPKIT_REQUIRE_MACHINES:-}" != 1 ] || { echo "$self: $2 is not installed (./setup --machines)" >&2; exit 1; }
  echo "$self: skipped: $2 is not installed (Debian: $1; ./setup --machines)" >&2
  exit 77
}

# Every night of these tests: quick, so that a shard has four short steps.
quick=(--quick --night 2026-01-02)
# More operators than parts of a quick bench, so that it finds some.
operators=Relu,Not,Abs,Neg,Sign,Exp,Sqrt,Sigmoid,Tanh,Floor,Ceil,Add,Sub,Mul,Div,And,Or,Xor,Greater,Less

# machinesTree TREE: a short tree with the starters.
machinesTree() {
  mkdir -p "$scratch"
  nightlyTree "$source" "$bin" "$1" "$operators"
  mkdir -p "$1/reports"
  cp -r "$source/reports/machines" "$1/reports/"
}
# wholeNight: the night on one machine, into whole/.
wholeNight() {
  ./nightly "${quick[@]}" --output whole --history whole.sqlite >"$scratch/whole.log" 2>&1 ||
    { fail "the whole night failed:"; tail -n 20 "$scratch/whole.log" >&2; }
}
# started CODE LOG COMMAND...: the command ends with this code.
started() {
  local expected=$1 log=$scratch/$2 code=0
  shift 2
  "$@" >"$log" 2>&1 </dev/null || code=$?
  [ $code = "$expected" ] || { fail "$*: expected exit code $expected, got $code:"; tail -n 20 "$log" >&2; }
}
# says LOG PATTERN: the log has such a line.
says() { grep -qE -- "$2" "$scratch/$1" || { fail "$1 lacks '$2':"; tail -n 12 "$scratch/$1" >&2; }; }
# saysLast LOG PATTERN: among its last lines.
saysLast() {
  tail -n 4 "$scratch/$1" | grep -E -- "$2" >/dev/null ||
    { fail "the end of $1 lacks '$2':"; tail -n 12 "$scratch/$1" >&2; }
}
