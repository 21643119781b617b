#!/usr/bin/env bash
# A launcher of compilers in a copy of the tree: cmake/borrow_outputs.sh COMMAND...
# If OPKIT_BORROW names another build of the same sources, copies the outputs of the command from there. Runs the command
# if an output is missing or older than its source there, or if a generated source differs there, such as the one that
# holds the path of the tree. Without OPKIT_BORROW it only runs the command.
# OPKIT_BORROW_DEPS is the folder that `borrow_dependencies` of scratch_tree.sh wrote.
[ -n "${OPKIT_BORROW:-}" ] || exec "$@"
root=${BASH_SOURCE[0]%/cmake/*}/ lender=${OPKIT_BORROW%/build/release}/
here=${root}build/release/
outputs=() depfile= source= previous=
for word in "$@"; do
  case $previous in
    -o | --header | --source) outputs+=("${word#"$here"}") ;;
    -MF | --depfile) depfile=${word#"$here"} ;;
    -c) source=${word#"$here"} ;;
  esac
  previous=$word
done
case "${outputs[*]}" in '' | *.gch) exec "$@" ;; esac
for output in "${outputs[@]}"; do [ -f "$OPKIT_BORROW/$output" ] || exec "$@"; done
case $source in
  '') ;;
  /*) ! [ "$source" -nt "$OPKIT_BORROW/${outputs[0]}" ] || exec "$@" ;;
  */Unity/*) sed "s#$root#$lender#" "$source" | cmp -s - "$OPKIT_BORROW/$source" || exec "$@" ;;  # lists of paths
  *) cmp -s "$source" "$OPKIT_BORROW/$source" || exec "$@" ;;
esac
# Compilers of C++ hand their dependencies to ninja, the compiler of shaders leaves a file.
kept=$OPKIT_BORROW/$depfile given=$OPKIT_BORROW_DEPS/${outputs[0]//\//%}
if [ -f "$given" ]; then
  cp "$given" "$here$depfile" || exec "$@"
elif [ -f "$kept" ]; then
  sed "s#$lender#$root#g" "$kept" >"$here$depfile" || exec "$@"
else
  exec "$@"
fi
for output in "${outputs[@]}"; do cp --reflink=auto "$OPKIT_BORROW/$output" "$here$output" || exec "$@"; done
