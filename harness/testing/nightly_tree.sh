# A tree for tests of ./nightly: built already, with short steps. Sourced by those tests.

# nightlyTree SOURCE BIN TREE 'OPERATORS': every command is the real one on these operators; setup and build do nothing.
nightlyTree() {
  local source=$1 bin=$2 tree=$3 operators=$4 nothing
  rm -rf "$tree"
  mkdir -p "$tree/build/release/bin" "$tree/build/release/harness" "$tree/harness/testing" "$tree/tools"
  cp "$source/nightly" "$tree/"
  for nothing in setup tools/cmake harness/testing/hostile_test.sh build/release/harness/planted_test; do
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
