#!/usr/bin/env bash
# Makes a folder that looks like a plain Debian system: the files of the essential packages, of the named ones and of all that
# they depend on, copied from this system, and nothing else. Enter it with: unshare -r chroot DIR
# Usage: cmake/plain_root.sh DIR PACKAGES...
set -euo pipefail
root=$1
shift
mkdir -p "$root"/{proc,dev,tmp,usr/{bin,sbin,lib,lib64}}
for folder in bin sbin lib lib64; do ln -sfn "usr/$folder" "$root/$folder"; done
# The closure; of alternatives and virtual packages, those that are installed here.
declare -A seen
mapfile -t queue < <(dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p')
queue+=("$@")
while [ ${#queue[@]} -gt 0 ]; do
  package=${queue[0]}
  queue=("${queue[@]:1}")
  [ -z "${seen[$package]:-}" ] || continue
  [ "$(dpkg-query -W -f "\${db:Status-Status}" "$package" 2>/dev/null || true)" = installed ] || continue
  seen[$package]=1
  mapfile -t more < <(dpkg-query -W -f '${Pre-Depends}\n${Depends}\n' "$package" | tr ',|' '\n\n' | sed 's/(.*//; s/:any//; s/ //g' | grep .)
  queue+=("${more[@]}")
done
dpkg-query -L "${!seen[@]}" | sort -u | while read -r path; do
  # Files and links; a package may list a file that a diversion or the administrator moved.
  [ ! -L "$path" ] && [ ! -f "$path" ] || echo "${path#/}"
done | grep -vE '^(usr/share/(doc|man|locale|info)|\.)/?' | tar -C / -c --no-recursion -T - 2>/dev/null | tar -C "$root" -x --keep-directory-symlink
# No package owns the links of alternatives: those whose programs are here, such as cc.
cp -a /etc/alternatives "$root/etc/"
for link in /usr/bin/*; do
  case $(readlink "$link") in
    /etc/alternatives/*) [ ! -e "$root$(readlink -f "$link")" ] || cp -a "$link" "$root$link" ;;
  esac
done
