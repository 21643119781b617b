# What the starters of shards share: their arguments, the results, the merge. Sourced by them, with `self` set to their
# name; they run in the root of the tree.

refuse() { echo "$self: $*" >&2; exit 2; }

# Sets `shards`.
numberOfShards() {
  [[ ${1:-} =~ ^[1-9][0-9]{0,3}$ ]] || refuse "expected a number of shards from 1 to 9999, got '${1:-}'; see --help"
  shards=$1
}

# Sets `night`, `forShards` and `forMerge` from options of ./nightly: --output and --history belong to the merge.
nightlyOptions() {
  night=$(date -u +%F) forShards=() forMerge=()
  while [ $# -gt 0 ]; do
    case $1 in
      --shard|--merge) refuse "$1 is not an option here: it is set for each shard" ;;
      --night) [ -n "${2:-}" ] || refuse "--night expects a name"; night=$2; shift 2 ;;
      --output|--history)
        [ -n "${2:-}" ] || refuse "$1 expects a path"
        forMerge+=("$1" "$(cd "$start" && realpath -m -- "$2")")
        shift 2 ;;
      *) forShards+=("$1"); shift ;;
    esac
  done
  [[ $night =~ ^[A-Za-z0-9._-]{1,64}$ ]] || refuse "--night expects a name of letters, digits, . _ -, got '$night'"
}

folderOf() { echo "out/nightly/shard-$1-of-$shards"; }
logOf() { echo "out/nightly/shard-$1-of-$shards.log"; }

# Results of another night are no part of this one. Those of a night that was killed are kept by the next ./nightly.
forgetResults() {
  local part
  mkdir -p out/nightly
  for ((part = 1; part <= shards; ++part)); do
    [ -e "$(folderOf $part)/running" ] || rm -f "$(folderOf $part)/results.jsonl"
    rm -f "$(logOf $part)"
  done
}

# mergeShards FAILED: joins the results that are there; ends the script, with 1 if FAILED is true or a shard is missing.
mergeShards() {
  local files=() file part code=0 failed=$1
  for ((part = 1; part <= shards; ++part)); do
    file=$(folderOf $part)/results.jsonl
    if grep -qs '"record":"run"' "$file"; then
      [ -z "$(tail -c 1 "$file")" ] || sed -i '$d' "$file"  # a line that was cut
      files+=("$file")
    else
      echo "$self: shard $part/$shards left no results" >&2
      failed=true
    fi
  done
  [ ${#files[@]} -gt 0 ] || { echo "$self: there is nothing to merge" >&2; exit 1; }
  ./nightly --merge "${files[@]}" "${forMerge[@]}" || code=$?
  [ $code = 0 ] && $failed && code=1
  exit $code
}
