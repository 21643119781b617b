#!/usr/bin/env bash
# One copy of the tree for all tests that add to it: copied and built once, used by the tests in turn; each checks that
# it leaves every byte unchanged. As a program it makes or removes the copy; tests source it.
#   cmake/scratch_tree.sh make SOURCE-ROOT BUILD-DIR SCRATCH-DIR VULKAN(ON|OFF) WERROR(ON|OFF)
#   cmake/scratch_tree.sh end SCRATCH-DIR
#   source cmake/scratch_tree.sh; scratch_enter SCRATCH-DIR; ...; scratch_unchanged
#   source cmake/scratch_tree.sh; scratch_copy SOURCE-ROOT SCRATCH-DIR; ...; scratch_unchanged     for text alone
# The copy is configured like the preset `release`, with the flags of the build around it. It borrows the objects of that
# build, so that nothing is compiled a second time (cmake/borrow_outputs.cpp).
set -euo pipefail
export OPKIT_CACHE_DIR=off
scratch_fail() { echo "scratch tree: $*" >&2; exit 1; }

# Every folder and every file with its hash, except the build's and git's.
scratch_listing() {
  find . \( -path ./build -o -path ./.git \) -prune -o \( -type d -print -o -exec sha256sum {} + \) | LC_ALL=C sort
}

# Copies the files that git would commit into a new repository and enters it.
scratch_copy() {
  local root=$1
  scratch=$2
  rm -rf "$scratch" "$scratch.listing"
  mkdir -p "$scratch"
  cd "$root"
  git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
  done | xargs -0 cp --parents -p -t "$scratch"
  cd "$scratch"
  git init -q
  git add -A
  git -c user.name=test -c user.email=test@localhost commit -qm start
  scratch_listing >"$scratch.listing"
}

# borrow_dependencies BUILD FOLDER: the dependencies of each output of BUILD as files in Make's form, with the paths of the
# copy. The name of a file is the path of its output with % for /.
borrow_dependencies() {
  mkdir -p "$2"
  ninja -C "$1" -t deps | awk -v folder="$2/" -v old="$(realpath "$1/../..")/" -v new="$scratch/" '
    /^[^ ]/ {
      output = $1; sub(/:$/, "", output)
      name = output; gsub("/", "%", name)
      file = index($0, "(VALID)") ? folder name : ""
      if (file) printf "%s:", output >file
      next
    }
    NF == 0 { if (file) { print "" >file; close(file) } file = ""; next }
    file { path = $1; if (index(path, old) == 1) path = new substr(path, length(old) + 1); printf " \\\n  %s", path >file }'
}

# Borrows only if the build around it is as new as the headers and shaders that were copied; borrow_outputs looks at the
# source of each object.
scratch_make() {
  local build=$2 vulkan=$4 werror=$5 targets=(op-harness op-scaffold op-report) borrowed=
  scratch_copy "$1" "$3"
  scratch=$(pwd)
  if [ -e "$build/bin/op-harness" ] && [ -z "$(find api engine harness ops reports scaffold shaders -newer "$build/bin/op-harness" \
    \( -name '*.h' -o -name '*.comp' -o -name '*.glsl' -o -name '*.fbs' \) -print -quit)" ]; then
    borrowed=$scratch.borrowed
    borrow_dependencies "$build" "$borrowed"
  fi
  cmake --preset release -DOPKIT_TESTS=OFF -DOPKIT_VULKAN="$vulkan" -DOPKIT_WERROR="$werror" \
    -DOPKIT_LAUNCHER="$build/borrow_outputs" >/dev/null
  env ${borrowed:+OPKIT_BORROW="$build" OPKIT_BORROW_DEPS="$borrowed"} \
    cmake --build --preset release --target "${targets[@]}" | tail -n 3
  rm -rf "$scratch.borrowed"
}

# Enters the copy in its original state, removing leftovers of failed tests.
scratch_enter() {
  scratch=$1
  [ -f "$scratch.listing" ] || scratch_fail "$scratch was not made; run ctest, which makes it first"
  cd "$scratch"
  git reset -q --hard
  git clean -qfdx -e /build
  scratch_settle
}

# Builds the present tree, so that the next build compiles only new files.
scratch_settle() {
  cmake --build --preset release --target op-harness op-scaffold op-report >/dev/null 2>&1 || scratch_fail "does not build"
}

scratch_unchanged() {
  cd "$scratch"
  diff "$scratch.listing" <(scratch_listing) || scratch_fail "the tree is not what it was"
}

# Builds op-harness and prints each step's line; fails if a source is compiled that is neither in the given folders (a
# pattern) nor in a group of operators that a new one joins (opkit_join_sources), nor generated from the folders' lists.
scratch_build() {
  local new=$1 steps
  steps=$(mktemp)
  cmake --build --preset release --target op-harness >"$steps" 2>&1 || { cat "$steps" >&2; rm "$steps"; scratch_fail "does not build"; }
  local old
  old=$(sed -n 's/^\[[0-9/]*\] Building CXX object //p' "$steps" | grep -vE "/($new)/|/generated/|/Unity/unity_[a-z]+(_[0-9]+)?_cxx" || true)
  echo "built: $(grep -c 'Building CXX' "$steps" || true) sources, $(grep -c '] Linking' "$steps" || true) libraries and programs"
  rm "$steps"
  [ -z "$old" ] || scratch_fail "expected only what is new to be built, got $old"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  case ${1:-} in
    make) shift; scratch_make "$@" ;;
    end) rm -rf "$2" "$2.listing" "$2.borrowed" ;;
    *) scratch_fail "expected make or end, got '${1:-}'" ;;
  esac
fi
