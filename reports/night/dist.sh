#!/usr/bin/env bash
# The archive of `--target dist` in plain Debian roots (cmake/plain_root.sh): one with g++ alone, one with a Vulkan driver and
# glslc too. From unpacking to the verdict on a plugin's kernel, right and with a planted fault; every program; the library.
# Usage: reports/night/dist.sh BUILD OUT
set -euo pipefail
build=$(realpath "$1") out=$(realpath "$2")
cmake --build "$build" --target dist
archive=$(echo "$build"/dist/*.tar.xz)

# In a root: prints the seconds from the archive to each verdict.
cat >"$out/try.sh" <<'END'
set -euo pipefail
fail() { echo "dist: $*" >&2; exit 1; }
cd /tmp
tar xf /opkit.tar.xz
cd opkit-*
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
sed -n '/^```cpp/,/^```$/{/^```/!p};/^```$/q' share/doc/opkit/docs/library.md >main.cpp
g++ -std=c++20 -Iinclude main.cpp -o main -Llib -lopkit -Wl,-rpath,"$PWD/lib",-rpath-link,lib/opkit
./main transformer.onnx | grep '^output'
END

try() {  # backends, packages...
  local root=$out/root backends=$1
  shift
  rm -rf "$root"
  cmake/plain_root.sh "$root" g++ xz-utils tar "$@"
  cp "$archive" "$root/opkit.tar.xz"
  cp "$out/try.sh" "$root/try.sh"
  unshare -rmpf bash -euc 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp bash /try.sh "$2"' - "$root" "$backends"
  rm -rf "$root"
}
echo "== g++ alone"
try cpu
echo "== with a Vulkan driver and glslc"
try 'cpu vulkan' mesa-vulkan-drivers libvulkan1 glslc
