#!/usr/bin/env bash
# Each program completes exactly the options of its --help, in bash and, if installed, in zsh. (No grep -q here: it
# would end the pipe early, which pipefail reports.) Usage: engine/tools/completion_test.sh PROGRAM...
set -euo pipefail
fail() { echo "completion: $*" >&2; exit 1; }
# Prints what bash offers for the words of a command line; the last one is being completed.
offered() {
  bash -c 'source <("$0" --completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    "_$(basename "$0" | tr - _)"; printf "%s\n" "${COMPREPLY[@]}"' "$@"
}
zsh_checked=0 values=0
for program in "$@"; do
  name=$(basename "$program")
  offered "$program" "$name" -- | grep -x -- --help >/dev/null || fail "$name: --help is not offered"
  mapfile -t commands < <("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]\+\) .*/\1/p')
  for command in "${commands[@]}"; do
    offered "$program" "$name" "${command:0:2}" | grep -x -- "$command" >/dev/null || fail "$name: $command is not offered"
    while read -r option; do
      offered "$program" "$name" "$command" -- | grep -x -- "$option" >/dev/null || fail "$name $command: $option is not offered"
    done < <("$program" "$command" --help | grep -oE -- '^ +(-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+')
  done
  # "--kind {unary,binary}" or "--precision TEXT:{high,low}" in a help text: the words are offered after the option.
  while read -r option choices; do
    for choice in ${choices//,/ }; do
      offered "$program" "$name" "$option" "" | grep -x -- "$choice" >/dev/null || fail "$name: $choice is not offered after $option"
      values=$((values + 1))
    done
  done < <(for command in "" "${commands[@]}"; do "$program" $command --help; done |
    sed -n 's/^ \+\(-[a-z],\)\?\(--[a-z-]\+\) .*{\([a-z0-9,_-]\+\)}.*/\2 \3/p' | sort -u)
  "$program" --completion zsh | grep "^compdef _${name//-/_} $name\$" >/dev/null || fail "$name: no compdef for zsh"
  if command -v zsh >/dev/null; then
    "$program" --completion zsh | zsh -n || fail "$name: zsh cannot parse its completion"
    zsh_checked=$((zsh_checked + 1))
  fi
  code=0
  "$program" --completion fish 2>/dev/null || code=$?
  [ "$code" = 2 ] || fail "$name: --completion fish: expected exit code 2, got $code"
done
[ "$values" -gt 10 ] || fail "expected more than 10 values of options, got $values"
echo "$# programs; $values values of options; parsed by zsh: $zsh_checked"
