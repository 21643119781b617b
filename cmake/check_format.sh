#!/usr/bin/env bash
# Fails if clang-format would change a header or source that git knows. Usage: cmake/check_format.sh SOURCE-DIR
set -euo pipefail
cd "$1"
git rev-parse --git-dir >/dev/null 2>&1 || { echo "format: not checked outside of git"; exit 0; }
git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run --Werror || { echo "format: clang-format -i mends it" >&2; exit 1; }
