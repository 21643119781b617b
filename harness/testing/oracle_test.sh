#!/usr/bin/env bash
# op-harness check --oracle as users run it: a right script, a wrong one, each way in which a script fails; the values of
# scripts in case files (--store, "expected").
# Usage: harness/testing/oracle_test.sh OP-HARNESS SCRATCH
set -uo pipefail
harness=$1 scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
export OPKIT_PYTHON=/usr/bin/python3  # Debian's, which has python3-numpy
cd "$scratch"
fail() { echo "oracle_test: $*" >&2; cat log >&2; exit 1; }
check() {  # exit code, arguments...
  local expected=$1 code=0
  shift
  "$harness" check --backend cpu "$@" >log 2>&1 || code=$?
  [ $code = "$expected" ] || fail "expected exit code $expected, got $code: check $*"
}
expect() { grep -qF -- "$1" log || fail "expected '$1'"; }
refused() {  # part of the message, arguments...
  local message=$1
  shift
  check 2 "$@"
  [ "$(wc -l <log)" = 1 ] || fail "expected one line: check $*"
  expect "$message"
}

cat >softmax.py <<'END'
import numpy as np

print("loaded")


def oracle(inputs, attributes):
    print("a line between the messages")
    (x,) = inputs
    assert x.dtype == np.float64
    axes = tuple(range(attributes["axis"] % x.ndim, x.ndim)) if attributes["flatten"] else attributes["axis"]
    if x.size == 0:
        return x
    shifted = x - x.max(axis=axes, keepdims=True)
    total = np.exp(shifted).sum(axis=axes, keepdims=True)
    return shifted - np.log(total) if attributes["log"] else np.exp(shifted) / total
END
check 0 --op Softmax --sample --written --oracle softmax.py --verbose
expect "independence script counters"
grep -q 'ok: [1-9][0-9]* pass$' log || fail "expected passes"

# Sums along another axis.
sed 's/else attributes\["axis"\]/else 0/' softmax.py >wrong.py
check 1 --case 'Softmax/f32[3,5]/normal/seed=7' --oracle wrong.py
expect "reason   script: the script and the built-in oracle differ at 15 of 15 elements; most at [2,1]: the script has 0.604934998"
expect "also     accuracy: 15 of 15 elements outside their bound"
expect "--oracle wrong.py --case"

# All types, absent inputs, several outputs: what a script gets is what it expects.
cat >types.py <<'END'
import numpy as np


def oracle(inputs, attributes, case):
    wide = {"bool": "bool", "u64": "uint64", "i": "int64", "u": "int64"}
    for x, name in zip(inputs, case["dtypes"]):
        expected = name and (wide.get(name) or wide.get(name[0]) or "float64")
        assert name is None or x.dtype == expected, (name, x.dtype)
    assert case["op"] in case["id"]
    if case["op"] == "Relu":
        return np.maximum(inputs[0], 0)
    if case["op"] == "MatMulInteger":
        assert inputs[2] is None
        return inputs[0] @ (inputs[1] - inputs[3])
    if case["op"] == "Split":
        ends = np.cumsum([output["shape"][attributes["axis"]] for output in case["outputs"]])[:-1]
        return np.split(inputs[0], ends, attributes["axis"])
    if case["op"] == "Add":
        return inputs[0] + inputs[1]
    return inputs[0].reshape(inputs[1]) if case["op"] == "Reshape" else inputs[0] == inputs[1]
END
codes='{"pattern":"codes"}'
for id in Equal/bool[3,5],bool[5]/normal/seed=7 Equal/u64[5],u64[5]/normal/seed=7 Relu/f16[3,5]/specials/seed=7 \
          'MatMulInteger/i8[5,70],i8[70,49],-,i8[49]/designed/seed=7/constant=1,3/data=[null,null,null,{"range":[0,127]}]' \
          'Split{"axis":-1}/bf16[3,3,3]/designed/seed=7/outputs=3/data=['"$codes]" \
          "Reshape/i4[3,43],i64[2]/designed/seed=7/constant=1/data=[$codes,{\"values\":[43,3]}]"; do
  check 0 --case "$id" --oracle types.py
done

# Each case fails in its own way, and the script is asked again after each.
cat >bad.py <<'END'
import os
import signal
import time

import numpy as np


def fails(x):
    return x + undefined


def oracle(inputs, attributes):
    x = np.maximum(inputs[0], 0)
    if x.shape == (2,): return fails(x)
    if x.shape == (3,): return x, x
    if x.shape == (4,): return x[:-1]
    if x.shape == (5,): return x.astype(np.float32)
    if x.shape == (6,): time.sleep(100)
    if x.shape == (7,): os.kill(os.getpid(), signal.SIGKILL)
    if x.shape == (8,): raise SystemExit("left")
    if x.shape == (9,): x[4] = np.nan
    if x.shape == (10,): return None
    return x
END
cat >bad.json <<'END'
{"cases": [{"op": "Relu", "inputs": [["f32[2]"], ["f32[3]"], ["f32[4]"], ["f32[5]"], ["f32[6]"], ["f32[7]"], ["f32[8]"],
                                     ["f32[9]"], ["f32[10]"], ["f32[11]"]]}]}
END
check 1 --op Relu --cases bad.json --oracle bad.py --oracle-timeout 0.5 --verbose --json bad.jsonl
reason() { grep -F "\"Relu/f32[$1]/normal/seed=7\"" bad.jsonl | grep >/dev/null -F -- "$2" || fail "expected '$2' of f32[$1]"; }
reason 2 "script: bad.py:9: NameError: name 'undefined' is not defined"
reason 3 "script: the script returned 2 arrays, expected 1"
reason 4 "script: output 0 of the script has the shape [3], expected [4]"
reason 5 "script: output 0 of the script is float32, expected float64 for f32"
reason 6 "script: the script gave no answer within 0.5 s"
reason 7 "script: the script ended Python with signal 9 (Killed)"
reason 8 "script: bad.py:20: SystemExit: left"
reason 9 "script: the script and the built-in oracle differ at 1 of 9 elements; most at [4]: the script has nan"
reason 10 "script: output 0 of the script is object, expected float64 for f32"
reason 11 '"status":"pass"'
[ "$(grep -c '"status":"fail"' bad.jsonl)" = 9 ] || fail "expected 9 failures"

# Refused before any case.
one=(--case 'Relu/f32[2]/normal/seed=7' --oracle)
refused "there is no function oracle(inputs, attributes)" "${one[@]}" <(echo "import numpy")
echo "def oracle(x): return x" >other.py
refused "other.py: oracle takes neither (inputs, attributes) nor (inputs, attributes, case)" "${one[@]}" other.py
printf 'import numpy\nx = (\n' >syntax.py
refused "syntax.py:2: SyntaxError: '(' was never closed" "${one[@]}" syntax.py
printf 'import os\nos._exit(3)\n' >leaves.py
refused "leaves.py: Python ended with exit code 3 while loading it" "${one[@]}" leaves.py
refused "missing.py" "${one[@]}" missing.py
refused "a script is for one operator, name it with --op" --oracle softmax.py
refused "--oracle-timeout requires --oracle" --op Relu --oracle-timeout 3
refused "--oracle excludes --save" --op Relu --oracle softmax.py --save .
printf '#!/bin/sh\nexec python3 -I -S "$@"\n' >bare
chmod +x bare
for python in ./bare /no/such/python; do
  OPKIT_PYTHON=$python refused "needs python3 with NumPy: ./setup installs Debian's python3-numpy" "${one[@]}" softmax.py
done

# Values in a case file: one small case of each written group, which the built-in oracle agrees with.
axis='"axis":1'
stored() { grep -c '"expected": ' stored.json; }
check 0 --op Softmax --filter "$axis" --oracle softmax.py --store stored.json
count=$(stored)
[ "$count" -ge 4 ] || fail "expected at least 4 cases, got $count"
expect "$count cases with the values of softmax.py: stored.json"
check 0 --cases stored.json --verbose
[ "$(grep -c '^  checks .* stored ' log)" = "$count" ] || fail "expected 'stored' of $count cases"

# Those of a wrong script take their place, and each is found without the script.
check 0 --op Softmax --filter "$axis" --oracle wrong.py --store stored.json
check 1 --cases stored.json
expect "reason   stored: wrong.py and the built-in oracle differ at "
expect "!stored"
check 0 --op Softmax --filter "$axis" --oracle softmax.py --store stored.json
[ "$(stored)" = "$count" ] || fail "expected $count cases in place of the old ones, got $(stored)"
check 0 --cases stored.json

# In a file that holds other entries, which stay. All types, absent inputs, several outputs, from the file alone.
cat >types.json <<'END'
{
  "cases": [
    {"op": "Relu", "inputs": [["f32[2]"]], "data": [{"values": [-1, 2]}], "expected": [{"values": [0, 2]}], "source": "by hand"}
  ],
  "errors": []
}
END
for id in Equal/bool[3,5],bool[5]/normal/seed=7 Add/u64[5],u64[5]/specials/seed=7 Relu/f16[3,5]/specials/seed=7 \
          Relu/f32[2]/normal/seed=7 Relu/f32[2]/normal/seed=8 \
          'MatMulInteger/i8[5,6],i8[6,7],-,i8[7]/designed/seed=7/constant=1,3/data=[null,null,null,{"range":[0,127]}]' \
          'Split{"axis":-1}/bf16[3,3,3]/designed/seed=7/outputs=3/data=['"$codes]" \
          "Reshape/i4[3,8],i64[2]/designed/seed=7/constant=1/data=[$codes,{\"values\":[8,3]}]"; do
  check 0 --case "$id" --oracle types.py --store types.json
done
check 0 --cases types.json --verbose
[ "$(grep -c '^  checks .* stored ' log)" = 8 ] || fail "expected 'stored' of 8 cases: one of Relu took the place of another"

# A saved failure keeps the values.
echo '{"cases": [{"op": "Relu", "inputs": [["f32[1]"]], "data": [{"value": 2}], "expected": [{"value": 3}], "source": "s"}]}' >one.json
check 1 --cases one.json --save saved
code=0
"$harness" replay saved/Relu-cpu-stored.opcase >log 2>&1 || code=$?
[ $code = 1 ] || fail "expected exit code 1 of replay, got $code"
expect "stored: s and the built-in oracle differ at 1 of 1 elements; most at [0]: s has 3, the built-in oracle 2"

# What cannot be stored changes no file.
cp types.json before.json
refused "Relu/f32[2]/designed/seed=7/data=" --case Relu/f32[2]/normal/seed=7 --oracle bad.py --store types.json
expect "bad.py:9: NameError: name 'undefined' is not defined"
refused "no case can be stored; the first: f32[0] has no elements" --case Relu/f32[0]/normal/seed=7 --oracle types.py --store types.json
refused "there is no written case without stored values to begin from" --op Relu --cases one.json --oracle types.py --store types.json
refused "--store requires --oracle" --op Relu --store types.json
echo '{"cases": [{"op": "Relu", "inputs": [["f32[2]"]]}]}' >line.json
refused "line.json: expected '\"cases\": [' alone on a line" --case Relu/f32[3]/normal/seed=7 --oracle types.py --store line.json
cmp -s types.json before.json || fail "expected types.json as it was"

# Wrong values in a file are one line before any case.
bad_values() {  # part of the message, the rest of an entry
  echo "{\"cases\": [{\"op\": $2}]}" >values.json
  refused "values.json: cases[0]: $1" --cases values.json
}
relu='"Relu", "inputs": [["f32[3]"]], "data": [{"values": [1, -2, 3]}], "source": "s"'
bad_values '"expected"[0]: 2 values, f32[3] has 3 elements' "$relu, \"expected\": [{\"values\": [1, 0]}]"
bad_values '"expected"[0]: true is no value of f32' "$relu, \"expected\": [{\"values\": [true, 0, 3]}]"
bad_values '"expected" has values for output 1, the case has 1 output' "$relu, \"expected\": [{\"value\": 1}, {\"value\": 1}]"
bad_values '"expected" must be a list of {"values":[..]}, {"value":v} or null, got {"range":[0,1]}' "$relu, \"expected\": [{\"range\": [0, 1]}]"
bad_values '"expected" holds no values' "$relu, \"expected\": [null]"
bad_values '"expected" or "shapes" and "source", which says where they are from, belong together' "$relu"
bad_values '"expected" needs the values of input 1 in "data"' \
  '"Add", "inputs": [["f32[1]", "f32[1]"]], "data": [{"value": 1}], "expected": [{"value": 1}], "source": "s"'
add='"data": [{"value": 1}, {"value": 1}], "source": "s"'
bad_values '"expected"[0]: 1.5 is no value of i32' "\"Add\", \"inputs\": [[\"i32[1]\", \"i32[1]\"]], $add, \"expected\": [{\"value\": 1.5}]"
bad_values '"expected"[0]: 256 is no value of u8' "\"Add\", \"inputs\": [[\"u8[1]\", \"u8[1]\"]], $add, \"expected\": [{\"value\": 256}]"
bad_values '"expected" has 1 form for 2 outputs; null leaves one out' \
  '"Split", "inputs": [["f32[4]"]], "outputs": 2, "data": [{"value": 1}], "expected": [{"value": 1}], "source": "s"'
echo "the scripts were judged"
