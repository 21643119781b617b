# For the scripts of this folder, which source it; they define refuse.
# outputFile OPTION FILE: refuses a FILE that cannot be written, before hours of work for it. It stays as it is.
outputFile() {
  local isNew=
  [ -e "$2" ] || [ -L "$2" ] || isNew=yes
  [ ! -d "$2" ] && [ ! -p "$2" ] && mkdir -p -- "$(dirname -- "$2")" 2>/dev/null && : 2>/dev/null >>"$2" || refuse "$1: cannot write '$2'"
  [ -z "$isNew" ] || rm -f -- "$2"
}
# fetchPackages CACHE MANIFEST: installs the packages of a package.json in CACHE. npm installs beside it, and a finished
# folder takes its place. A folder for the same manifest is kept.
fetchPackages() {
  local cache=$1 manifest=$2
  [ "$(cat "$cache/package.json" 2>/dev/null)" != "$manifest" ] || [ ! -e "$cache/complete" ] || return 0
  mkdir -p "$(dirname "$cache")" 2>/dev/null || refuse "cannot make '$(dirname "$cache")'"
  [ ! -e "$cache" ] || [ -e "$cache/complete" ] || refuse "--cache '$cache' holds something else"
  new=$(mktemp -d "$cache.XXXXXX") || refuse "cannot write beside '$cache'"
  trap 'rm -rf "$new"' EXIT
  printf '%s\n' "$manifest" >"$new/package.json"
  (cd "$new" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --fetch-retries 1 >log 2>&1) ||
    refuse "npm cannot fetch the packages: $(sed -n 's/^npm \(error\|ERR!\) //p' "$new/log" | head -n 3 | tr '\n' ' ')"
  touch "$new/complete"
  rm -rf "$cache"
  mv "$new" "$cache"
  trap - EXIT
}
