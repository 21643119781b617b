# A tree for tests of ./nightly: built already, with short steps. Sourced by those tests.

# nightlyTree SOURCE BIN TREE 'OPERATORS': every command is the real one on these operators; setup and build do nothing.
nightlyTree() {
  local source=$1 bin=$2 tree=$3 operators=$4 nothing
  rm -rf "$tree"
  mkdir -p "$tree/build/release/bin" "$tree/tools"
  cp "$source/nightly" "$tree/"
  for nothing in setup tools/cmake; do
    printf '#!/bin/sh\n' >"$tree/$nothing"
    chmod +x "$tree/$nothing"
  done
  cat >"$tree/build/release/bin/op-harness" <<EOF
#!/bin/sh
command=\$1
shift
case \$command in
  check) exec '$bin/op-harness' check --written --op $operators "\$@" ;;
  bench) exec '$bin/op-harness' bench --op $operators "\$@" ;;
  conformance) exec '$bin/op-harness' conformance --filter relu "\$@" ;;
  model) shift; exec '$bin/op-harness' model zoo:transformer "\$@" ;;
  *) exec '$bin/op-harness' \$command "\$@" ;;
esac
EOF
  # In this mode every step is the same short check.
  printf '#!/bin/sh\nfor last; do :; done\n[ "$1" != list ] || exit 0\nexec %q check --op Relu --written --backend cpu --jobs 2 --json "$last"\n' \
    "$bin/op-harness" >"$tree/tools/short"
  printf '#!/bin/sh\nexec %q "$@"\n' "$bin/op-report" >"$tree/build/release/bin/op-report"
  chmod +x "$tree"/build/release/bin/* "$tree/tools/short"
  export PATH=$tree/tools:$PATH
}

# mergedIsWhole BIN LOG WHOLE MERGED PART...: true if MERGED holds what WHOLE holds, times aside, and no PART does; else
# says what differs. A change of times counts from a factor of 10^6 on.
mergedIsWhole() {
  local bin=$1 log=$2 whole=$3 merged=$4 part
  shift 4
  "$bin/op-report" compare --threshold 99999900 "$whole" "$merged" >"$log" ||
    { echo "the shards differ from the whole: $(head -n 5 "$log")" >&2; return 1; }
  grep -q '^[1-9][0-9]* cases in both files, 0 only in the first, 0 only in the second;.* bits changed in 0 cases' "$log" ||
    { echo "the shards are not the whole: $(cat "$log")" >&2; return 1; }
  [ "$(grep -c '"record":"case"' "$whole")" = "$(grep -c '"record":"case"' "$merged")" ] ||
    { echo "the shards hold another number of cases than the whole" >&2; return 1; }
  for part in "$@"; do
    ! "$bin/op-report" compare --threshold 99999900 "$part" "$merged" 2>/dev/null | grep ' 0 only in the second;' >/dev/null ||
      { echo "$part holds everything: nothing was divided" >&2; return 1; }
  done
}

# killedShard TREE I/N: from now on ./nightly --shard I/N gets a kill -9 when it comes to bench; with "" no longer.
killedShard() {
  local program=$1/build/release/bin/op-harness folder=shard-${2/\//-of-}
  sed -i '/# killed$/d' "$program"
  [ -z "$2" ] || sed -i "2i case \"\$*\" in bench*/$folder/*) kill -9 \"\$PPID\"; exit 1 ;; esac  # killed" "$program"
}
