#!/usr/bin/env bash
# Two rules for the text of the tree. Usage: cmake/check_scripts.sh ROOT
# - No script pipes into `grep -q`: it ends before its writer has written all, and pipefail then fails the pipeline now and
#   then. `grep >/dev/null` reads to the end.
# - No file names a host of an archive of packages: they come through the system's own configuration.
set -euo pipefail
cd "$1"
bad=0
scripts=$(grep -rIl --exclude-dir=build --exclude-dir=out --exclude-dir=.git -E '^#!.*(bash|/sh)' . | grep -v '/check_scripts.sh$')
[ "$(wc -l <<<"$scripts")" -ge 20 ] || { echo "check_scripts: expected 20 scripts or more" >&2; exit 1; }
# shellcheck disable=SC2086
if grep -nE '[^|]\| *grep -[a-zA-Z]*q' $scripts; then
  echo "check_scripts: expected grep >/dev/null after a pipe" >&2
  bad=1
fi
if grep -rnIE --exclude-dir=build --exclude-dir=out --exclude-dir=.git '(deb|ftp|archive)[.]debian[.]org|registry[.]npmjs[.]org' .; then
  echo "check_scripts: expected no host of an archive" >&2
  bad=1
fi
exit $bad
