#!/usr/bin/env bash
# Rules for the text of the tree. Usage: cmake/check_scripts.sh ROOT
# - No script pipes into `grep -q`: it ends before its writer has written all, and pipefail then fails the pipeline now and
#   then. `grep >/dev/null` reads to the end.
# - No file names a host of an archive of packages: they come through the system's own configuration.
# - Files are read by readFile, readText or LineReader (engine/base/checked_file.h): a loop over std::getline takes a failed
#   read for the end of the file. Lines of /proc may end early; programs of the build are exempt.
# - JSON is parsed by parseJson (engine/base/json_text.h), which refuses what is nested too deep to be copied.
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
sources() { # PATTERN: lines of sources that are no tests and hold it
  grep -rnE --include='*.cpp' --include='*.h' --exclude-dir=build --exclude-dir=out --exclude-dir=.git --exclude-dir=testing \
    --exclude='*_test.cpp' --exclude='*test_support*' "$1" . || true
}
proc='engine/(backend/host/host_devices|base/host_memory)|harness/run/(processor_time|isolated_jobs|results|worker_note)|fuzz/memory_limit|cmake/borrow_outputs|engine/backend/vulkan/shader_build/(build_shader|compiler)'
while IFS=: read -r file line text; do
  [ -z "$file" ] || [[ $file =~ ^./($proc)\.(cpp|h)$ ]] || grep 'LineReader' "$file" >/dev/null || {
    echo "$file:$line: expected readText, readFile or LineReader:$text" >&2
    bad=1
  }
done <<<"$(sources 'std::ifstream')"
parses=$(sources '\b(json|Json)::(parse|accept|sax_parse)\(' | grep -v '^./engine/base/json_text.h:' || true)
if [ -n "$parses" ]; then
  echo "$parses" >&2
  echo "check_scripts: expected parseJson" >&2
  bad=1
fi
exit $bad
