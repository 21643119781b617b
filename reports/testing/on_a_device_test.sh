#!/usr/bin/env bash
# opkit-on-a-device with an op-harness that answers at once or hangs: wrong usage, no device, the order of the steps, time
# that runs out, and a cut at any moment, after which the pages of what was found are whole. The part `device` of the night
# rehearses it with the real programs.
# Usage: reports/testing/on_a_device_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$(realpath "$2") scratch=$3
bad=0
fail() { echo "on_a_device_test: $*" >&2; bad=1; }
rm -rf "$scratch"
mkdir -p "$scratch/bin"
scratch=$(realpath "$scratch")
cp "$source/reports/device/opkit-on-a-device" "$scratch/bin/"
ln -s "$bin/op-report" "$scratch/bin/op-report"
# Prints devices; else appends a whole run of one case, and hangs or fails where the test says so.
cat >"$scratch/bin/op-harness" <<'END'
#!/usr/bin/env bash
folder=$(dirname "$0")
case $1 in
  --version) echo "op-harness test"; exit ;;
  devices) cat "$folder/devices"; exit ;;
esac
echo "$*" >>"$folder/commands"
while [ $# -gt 0 ]; do
  [ "$1" = --json ] && json=$2
  command+=" $1"
  shift
done
run=$(printf '%016x' $$)
echo "{\"record\":\"run\",\"run\":\"$run\",\"schema\":3,\"tool\":\"op-harness\",\"command\":\"${command:1}\",\"planned\":{\"vulkan\":1},\"started\":\"2026-01-01T00:00:00Z\"}" >>"$json"
echo "{\"record\":\"device\",\"run\":\"$run\",\"backend\":\"vulkan\",\"name\":\"Test GPU\",\"driver\":\"1\",\"uuid\":\"\",\"software\":false,\"roof\":{\"flopsPerNs\":100,\"bytesPerNs\":50,\"cacheBytesPerNs\":80,\"launchNs\":2000,\"clockRatio\":1}}" >>"$json"
hangs=$(cat "$folder/hangs" 2>/dev/null)
[ -n "$hangs" ] && [[ ${command:1} == $hangs* ]] && { echo '{"record":"case","run":"'"$run"'","kind":"che' | tr -d '\n' >>"$json"; exec sleep 100; }
fails=$(cat "$folder/fails" 2>/dev/null)
status=pass
[ -n "$fails" ] && [[ ${command:1} == $fails* ]] && status=fail
echo "{\"record\":\"case\",\"run\":\"$run\",\"kind\":\"${command%% --*}\",\"id\":\"Relu/f32[1]/normal/seed=7\",\"op\":\"Relu\",\"backend\":\"vulkan\",\"status\":\"$status\",\"reason\":\"planted\"}" | sed 's/"kind":" */"kind":"/; s/"kind":"shaders"/"kind":"access"/; s/"kind":"model [^"]*"/"kind":"model"/' >>"$json"
echo "{\"record\":\"summary\",\"run\":\"$run\",\"outcome\":\"complete\",\"executed\":1}" >>"$json"
[ $status = pass ]
END
chmod +x "$scratch/bin/op-harness"
software='vulkan   0      llvmpipe (LLVM 15)      llvmpipe 1        software  00'
hardware='vulkan   1      Test GPU                driver 1          hardware  01'
printf '%s\n' 'backend  index  name                    driver            kind      uuid' 'cpu      0      CPU                     host              hardware  -' "$software" >"$scratch/bin/devices"
script=$scratch/bin/opkit-on-a-device

# refused EXIT WORDS ARGUMENTS...: one line on stderr.
refused() {
  local code=0 expected=$1 words=$2
  shift 2
  "$script" "$@" >/dev/null 2>"$scratch/error" || code=$?
  [ $code = "$expected" ] && [ "$(wc -l <"$scratch/error")" = 1 ] && grep -qF -- "$words" "$scratch/error" ||
    fail "'$*' ended with $code: $(cat "$scratch/error")"
}
refused 2 'expected a folder'
refused 2 "unknown option '--fast'" --fast
refused 2 'expects 60 to 99999' "$scratch/a" --seconds 10
refused 2 'expected one folder' "$scratch/a" "$scratch/b"
refused 2 'expected one folder' "$scratch/a" -- -b
refused 2 'a manifest of a Vulkan driver' "$scratch/a" --driver "$scratch/none.json"
refused 2 'is not empty' "$scratch/bin"
refused 2 'cannot write' /proc/none
refused 3 'no hardware Vulkan device here; --rehearse' "$scratch/none"

# Both devices, hardware first, all steps of each.
echo "$hardware" >>"$scratch/bin/devices"
"$script" "$scratch/all" --rehearse >"$scratch/said" 2>&1 || fail "the whole run ended with $?: $(cat "$scratch/said")"
grep -q '^GREEN: 22 cases' "$scratch/said" || fail "the whole run is not green: $(cat "$scratch/said")"
[ "$(grep -o -- '--device [0-9]' "$scratch/bin/commands" | uniq | tr '\n' ' ')" = '--device 1 --device 0 ' ] || fail "hardware is not first"
grep -q 'Test GPU' "$scratch/all/device.md" && grep -q '1.000 of the host' "$scratch/all/device.md" || fail "device.md: $(cat "$scratch/all/device.md")"
[ "$(head -n 11 "$scratch/bin/commands" | cut -d' ' -f1 | tr '\n' ' ')" = 'check bench model model model model model shaders shaders bench check ' ] ||
  fail "the order of steps: $(cat "$scratch/bin/commands")"
# Without --rehearse hardware alone; a step that fails fails the whole, and the others run.
echo model >"$scratch/bin/fails"
rm "$scratch/bin/commands"
code=0
"$script" "$scratch/failing" >"$scratch/said" 2>&1 || code=$?
[ $code = 1 ] && grep -q '^RED: 5 of 11 cases' "$scratch/said" && [ "$(wc -l <"$scratch/bin/commands")" = 11 ] ||
  fail "a failing step: $code, $(cat "$scratch/said")"
rm "$scratch/bin/fails"

# Cut while a step runs: by a signal, and by SIGKILL, which leaves no child; pages and results are whole.
echo 'shaders' >"$scratch/bin/hangs"
set -m  # else a program in the background ignores SIGINT
for signal in INT TERM KILL; do
  "$script" "$scratch/$signal" >"$scratch/said" 2>&1 &
  pid=$!
  for ((i = 0; i < 300; ++i)); do grep -q 'network mobilenet_v1_fp16' "$scratch/said" && break; sleep 0.1; done
  sleep 0.5
  code=0
  kill -s $signal $pid
  wait $pid 2>/dev/null || code=$?
  [ $signal = KILL ] || [ $code = 1 ] || fail "$signal: ended with $code"
  grep -q 'Test GPU' "$scratch/$signal/index.html" && grep -q 'Test GPU' "$scratch/$signal/device.md" || fail "$signal: no page"
  "$bin/op-report" build "$scratch/$signal/results.jsonl" --output "$scratch/again.html" >"$scratch/verdict" 2>/dev/null ||
    fail "$signal: the results cannot be read again"
  grep -q '7 recorded' "$scratch/verdict" && grep -q 'NOT GREEN' "$scratch/verdict" || fail "$signal: $(cat "$scratch/verdict")"
  ls "$scratch/$signal" | grep '\.new$' && fail "$signal: left a part of a page"
  sleep 0.3
  pgrep -f "$scratch/bin/op-harness" && fail "$signal: a child remains"
done
exit $bad
