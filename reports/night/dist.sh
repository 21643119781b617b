#!/usr/bin/env bash
# The archive of `--target dist` in plain Debian roots (cmake/plain_root.sh): one with g++ alone, one with a Vulkan driver and
# glslc too; then the packages of `--target deb`, with what they depend on. From unpacking to the verdict on a plugin's kernel,
# right and with a planted fault; every program; the library.
# Usage: reports/night/dist.sh BUILD OUT
set -euo pipefail
build=$(realpath "$1") out=$(realpath "$2")
cmake --build "$build" --target dist --target deb
archive=$(echo "$build"/dist/*.tar.xz)

# In a root: prints the seconds from the archive to each verdict.
cat >"$out/try.sh" <<'END'
set -euo pipefail
fail() { echo "dist: $*" >&2; exit 1; }
cd /tmp
if [ -f /opkit.tar.xz ]; then
  tar xf /opkit.tar.xz
  cd opkit-*
else
  mkdir installed
  cd installed
  ln -s /usr/bin /usr/include /usr/lib .
fi
if [ -f AGENTS.md ]; then
  grep -o '](\([a-zA-Z/_-]*\.md\))' AGENTS.md | tr -d '()]' | while IFS= read -r page; do
    [ -f "$page" ] || fail "AGENTS.md sends its reader to $page, which is missing"
  done
fi
for program in op-harness op-run op-convert op-report op-scaffold; do bin/$program --version; done
bin/op-scaffold plugin half_relu --domain com.acme | sed '1,/^Next:/d' >steps
bash -euo pipefail steps >log || fail "the printed steps: $(cat steps log)"
for backend in $1; do
  grep -E "^com.acme::HalfRelu +$backend +[1-9]" log || fail "nothing passed on $backend: $(cat log)"
done
echo "seconds to a pass: $SECONDS"
# The last element is never written.
sed -i '/^static opkit_code execute/,/^}/s/i < x->elements/i + 1 < x->elements/' half_relu/half_relu.c
if bash -euo pipefail steps >log; then fail "the fault passed: $(cat log)"; fi
grep -m1 -A3 '^fail' log
grep -E 'because .*never written|because .*not written|\[unwritten\]' log || fail "the fault is not named: $(cat log)"
echo "seconds to the verdict on a fault: $SECONDS"
code=0
bin/op-harness watch --once --backend cpu --op com.acme::HalfRelu --plugin half_relu/libhalf_relu.so \
  --build "$(sed -n 's/^ *cc /cc /p' steps)" >log || code=$?
[ $code = 1 ] && grep '\[unwritten\]' log || fail "watch ended with $code: $(cat log)"
bin/op-harness check --sample --backend "${1// /,}" --op Softmax,MatMul | grep '^ok'
bin/op-convert zoo:transformer transformer.onnx >/dev/null
bin/op-run transformer.onnx --backend cpu >/dev/null
g++ -std=c++20 -Iinclude /main.cpp -o main -Llib -lopkit -Wl,-rpath,"$PWD/lib",-rpath-link,lib/opkit
./main transformer.onnx | grep '^output'
END

try() {  # what unpacks OpKit into the root $1, backends, packages...
  local root=$out/root unpack=$1 backends=$2
  shift 2
  rm -rf "$root"
  cmake/plain_root.sh "$root" g++ xz-utils "$@"
  $unpack "$root"
  cp "$out/try.sh" "$root/try.sh"
  sed -n '/^```cpp/,/^```$/{/^```/!p};/^```$/q' docs/library.md >"$root/main.cpp"
  unshare -rmpf bash -euc 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp bash /try.sh "$2"' - "$root" "$backends"
  rm -rf "$root"
}
copy_archive() { cp "$archive" "$1/opkit.tar.xz"; }
install_packages() { for package in "${packages[@]}"; do dpkg-deb -x "$package" "$1"; done; }
echo "== g++ alone"
try copy_archive cpu
echo "== with a Vulkan driver and glslc"
try copy_archive 'cpu vulkan' mesa-vulkan-drivers libvulkan1 glslc
echo "== Debian packages"
packages=("$build"/deb/*.deb)
[ ${#packages[@]} = 2 ] || { echo "dist: expected two packages: ${packages[*]}" >&2; exit 1; }
mapfile -t needed < <(for package in "${packages[@]}"; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' | sed 's/(.*//; s/ //g' | sort -u)
try install_packages cpu "${needed[@]}"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error --tag-display-limit 3 "${packages[@]}"
else
  echo "no lintian here: the packages' form is not judged"
fi
