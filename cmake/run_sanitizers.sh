#!/usr/bin/env bash
# Builds tests with sanitizers and runs them; any report fails.
# Usage: cmake/run_sanitizers.sh --all        the tests of a day, with the address and undefined-behaviour sanitizers and
#                                             with the thread sanitizer
#        cmake/run_sanitizers.sh --part N     one part of it, the N-th modulo the number of parts
#        cmake/run_sanitizers.sh --day        the program that reads data of others, of 51 sources, as CI does
set -euo pipefail
cd "$(dirname "$0")/.."
parts=(
  "asan-ubsan foundation_test engine_test"
  "tsan foundation_test engine_test backend_test vulkan_test"
  "asan-ubsan backend_test plugin_test vulkan_test"
  "tsan zoo_test library_test"
  "asan-ubsan scaffold_test report_test"
  "asan-ubsan ops_test allocations_test library_test"
)
build() {  # PRESET TARGETS...
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" ${2:+--target "${@:2}"}
}
run() {  # PRESET PROGRAMS...
  build "$@"
  local name value program
  for name in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do  # as the test preset sets them
    value=$(sed -n "s|.*\"$name\": \"\([^\"]*\)\".*|\1|p" CMakePresets.json)
    export "$name=${value//\$\{sourceDir\}/$PWD}"
  done
  for program in "${@:2}"; do "$(find "build/$1" -type f -name "$program")" --gtest_brief=1; done
}
case ${1:-} in
  --all)
    for preset in asan-ubsan tsan; do
      build "$preset"
      ctest --preset "$preset"
    done ;;
  --part)
    [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "run_sanitizers: --part expects a number, got '${2:-}'" >&2; exit 2; }
    read -r -a part <<<"${parts[$2 % ${#parts[@]}]}"
    echo "run_sanitizers: part $(($2 % ${#parts[@]} + 1)) of ${#parts[@]}: ${part[*]}"
    run "${part[@]}" ;;
  --day) run asan-ubsan foundation_test ;;
  *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
esac
