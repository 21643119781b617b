#!/usr/bin/env bash
# op-scaffold as users run it, in a copy of the tree that is never built: refusals, plans that write nothing, the same
# command twice, specs, custom templates, prompts, the next steps. every_kind.sh builds and runs the written files.
# Usage: scaffold/testing/program_test.sh SOURCE-ROOT SCRATCH-DIR OP-SCAFFOLD
set -euo pipefail
source "$(dirname "$0")/../../cmake/scratch_tree.sh"
scaffold=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scratch_copy "$1" "$2"
fail() { echo "program_test: $*" >&2; exit 1; }

# refused 'part of the message' arguments...: exit code 2, nothing on stdout, one line on stderr, the tree as it was.
checked=0
refused() {
  local message=$1 code=0
  shift
  "$scaffold" "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
  [ "$code" = 2 ] || fail "expected exit code 2, got $code: op-scaffold $*"
  [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] || fail "expected one line of error: op-scaffold $*: $(cat "$work/out" "$work/err")"
  grep -qF -- "$message" "$work/err" || fail "expected '$message' from op-scaffold $*, got $(cat "$work/err")"
  checked=$((checked + 1))
}
spec() { printf '%s' "$1" >"$work/spec.json"; }

refused 'expected a subcommand of new, remove'
refused "expected a subcommand of new, remove" bogus
refused "there is no option '--bogus'" --bogus
refused "unexpected argument 'extra'" new Thing --kind unary extra
refused 'NAME (UpperCamel, such as HardShrink) is missing' new
refused '--kind (op-scaffold kinds lists them) is missing' new Thing
refused "expected one of unary, binary" new Thing --kind nope
refused 'UpperCamel' new thing --kind unary
refused 'UpperCamel' new Gemm_tiles --kind unary
refused "a keyword of C++ or GLSL" new Class --kind elementwise
refused "but the sources use it already" new Vulkan --kind elementwise
refused 'the build takes *_test.cpp' new MyTest --kind elementwise
refused 'ops/softmax is the folder of operator Softmax' new SOFTMAX --kind rowwise
refused 'ops/softmax/softmax.fbs exists and differs' new Softmax --kind rowwise
refused 'ops/unary is the folder of operator' new Unary --kind custom
refused 'ops/unary is the folder of operator' new Unary --kind custom --force
refused 'shaders/include exists' new Include --kind custom
refused 'shaders/gemm/gemm_tiles.comp would give the same C++ name' new GemmTiles --kind custom
refused 'ONNX Softmax is imported by ops/softmax' new Thing --kind rowwise --onnx Softmax
refused 'expected an operator type such as' new Thing --kind rowwise --onnx 'bad name'
refused "got 'cuda'" new Thing --kind rowwise --backend cuda
refused 'every backend reads' new Thing --kind unary --backend cpu
refused 'expected floats, integers' new Thing --kind rowwise --input x:q4
refused 'takes 1 inputs, got 2' new Thing --kind composite --input a --input b
refused 'takes 1 to 5 inputs, got 6' new Thing --kind rowwise --input a --input b --input c --input d --input e --input f
refused 'an input is NAME[:TYPES][?][:contents]' new Thing --kind custom --input x:f32:values
refused "'=z' expects an input before it" new Thing --kind custom --input x --input y:=z
refused 'T is the type of x already' new Thing --kind custom --input x:T=f32 --input y:T=f16
refused 'kind matmul needs this input' new Thing --kind matmul --input a --input 'b?'
refused "must be optional: add '?'" new Thing --kind rowwise --input x --input 'scale?' --input bias
refused 'contents are for further inputs of the kinds reduce, layout, copy, custom' new Thing --kind pool --input x:i64:contents
refused 'write b:i64:contents' new Thing --kind layout --input x --input b
refused 'contents are i64 or i32, got f32' new Thing --kind custom --input x --input b:f32:contents
refused 'are of one type, got f32 and f16' new Thing --kind rowwise --input x:f32 --input scale:f16
refused '--rows is for kind rowwise, got kind reduce' new Thing --kind reduce --rows groups
refused "expected one of axis, from-axis, groups, got 'column'" new Thing --kind rowwise --rows column
refused "a choice is a word such as half_pixel, got ''" new Thing --kind custom --attr 'mode:string=a|'
long=$(head -c 100000 /dev/zero | tr '\0' a)
refused "a choice is a word such as half_pixel, got 'aaa" new Thing --kind custom --attr "mode:string=$long|b"
refused 'expected an operator type such as HardSwish' new Thing --kind unary --onnx "$long"
refused 'expected an operator such as Softmax' where "$long"
refused 'expected a reversed domain' plugin thing --domain "a.$long"
refused 'must differ by more than case' new Thing --kind custom --attribute 'mode:string=a|A'
refused 'a default of type int' new Thing --kind custom --attr 'mode:int=1|2'
refused 'needs the choices none|add|mul|max|min' new Thing --kind scatter --attr reduction:string=add
refused 'snake_case' new Thing --kind elementwise --input 'x y'
refused 'the name is used twice' new Thing --kind custom --input x --output x
refused 'indices of kind gather are i64 or i32' new Thing --kind gather --input data --input at_most:f32
refused 'outputs have the type of the first input' new Thing --kind custom --output y:f32
refused 'expected a type of bool, int' new Thing --kind elementwise --attr a:double=1
refused "a default of type int, got '1.5'" new Thing --kind elementwise --attr a:int=1.5
refused 'a default of type int' new Thing --kind elementwise --attr a:int=99999999999999999999
refused 'a default of type float' new Thing --kind elementwise --attr a:float=nan
refused 'a default of type float' new Thing --kind elementwise --attr a:float=1e999
refused 'a default of type bool' new Thing --kind elementwise --attr a:float=1 --attr b:bool=1
refused 'given twice' new Thing --kind elementwise --attr a:float=1 --attr a:float=2
refused 'keyword of C++ or GLSL' new Thing --kind elementwise --attr class:int=1
refused 'used by the generated code' new Thing --kind custom --attr count:int=1
refused 'kind reduce needs it as int, got float' new Thing --kind reduce --attr axis:float=1
refused 'fixed parameters' new Thing --kind unary --attr a:int=9
refused "--spec excludes NAME" new Thing --kind custom --spec "$work/none"
refused 'cannot read' new --spec "$work/none"
spec '{'
refused 'not JSON' new --spec "$work/spec.json"
refused "--spec excludes NAME" new --spec "$work/spec.json" --attr a:int=1
refused "--spec excludes NAME" new --spec "$work/spec.json" --tdd
refused "--spec excludes NAME" new --spec "$work/spec.json" --backend cpu
spec '[]'
refused 'must be an object' new --spec "$work/spec.json"
spec '{"version": 2, "name": "Thing", "kind": "unary"}'
refused 'expected "version": 1, got 2' new --spec "$work/spec.json"
spec '{"version": 1, "name": "Thing", "kind": "unary", "backend": "cpu"}'
refused "unknown key 'backend'" new --spec "$work/spec.json"
spec '{"version": 1, "name": "Thing", "kind": "custom", "inputs": [{"name": "x", "optional": 1}]}'
refused "'optional' must be true or false, got 1" new --spec "$work/spec.json"
spec '{"version": 1, "name": "Thing", "kind": "custom", "attrs": [{"name": "m", "type": "int", "choices": ["a", "b"]}]}'
refused "'choices' are two words or more of a string" new --spec "$work/spec.json"
spec '{"version": 1, "name": "Thing", "kind": "elementwise", "attrs": [1]}'
refused 'attrs must be an object' new --spec "$work/spec.json"
refused 'there is no operator Nothing' remove Nothing
refused 'was not scaffolded in this working copy' remove Softmax
refused 'was not scaffolded in this working copy' rename Softmax Other
refused 'operator Relu exists' rename Softmax Relu
refused 'there is no operator Nothing' add-backend Nothing cpu
refused 'has a kernel on vulkan' add-backend Softmax vulkan
refused "got 'cuda'" add-backend Softmax cuda
refused 'there is no operator Nothing' new-kernel Nothing --backend cpu --name fused
refused "got 'cuda'" new-kernel Softmax --backend cuda --name fused
refused "cannot read 'none.py': No such file" new Thing --kind unary --oracle-from none.py
refused '--name is required' new-kernel Softmax --backend cpu
refused 'expected a snake_case name' new-kernel Softmax --backend cpu --name Fused
refused 'softmax_cpu.cpp says "vector" already' new-kernel Softmax --backend cpu --name vector
refused "has no kernel of its own on cpu to copy (docs/ops.md has 'raster')" new-kernel Transpose --backend cpu --name fused
refused "(docs/ops.md has 'parts')" new-kernel GroupNormalization --backend vulkan --name fused
refused "(docs/ops.md has 'loop')" new-kernel Gather --backend cpu --name fused
refused 'has no kernel of its own on vulkan' new-kernel StringNormalizer --backend vulkan --name fused
refused 'was not scaffolded in this working copy' remove Softmax --kernel fused --backend cpu
refused '--kernel requires --backend' remove Softmax --kernel fused
refused '--backend requires --kernel' remove Softmax --backend cpu
refused 'backend null exists' backend null
refused 'lower-case word' backend Npu
refused 'lower-case word' plugin Mine
refused 'reversed domain' plugin mine --domain acme
refused "expected c or cpp" plugin mine --language rust
refused 'there is no operator Nothing' doctor Nothing
refused 'there is no folder' --templates "$work/none" kinds
refused 'not inside a source tree of OpKit' --root / list
: >"$work/file"
refused 'is not a folder' eject "$work/file"
scratch_unchanged

# From outside the tree, by a relative path, and from a subfolder: the same plan.
"$scaffold" new HardNudge --kind elementwise --dry-run >"$work/here"
tree=$PWD
(cd .. && "$scaffold" --root "${tree##*/}" new HardNudge --kind elementwise --dry-run) >"$work/outside"
(cd ops/softmax && "$scaffold" new HardNudge --kind elementwise --dry-run) >"$work/below"
for place in outside below; do
  diff <(grep '^[+-]' "$work/here") <(grep '^[+-]' "$work/$place") || fail "new gives another plan from $place the tree"
done
scratch_unchanged

# A further kernel: the dry run writes nothing, its diff is what the command does; twice is refused; remove undoes it.
"$scaffold" new-kernel Softmax --backend vulkan --name fused --dry-run >"$work/diff"
scratch_unchanged
git apply "$work/diff" && scratch_listing >"$work/by_git" && git stash -qu && git stash drop -q
"$scaffold" new-kernel Softmax --backend vulkan --name fused >"$work/out"
scratch_listing | grep -v ' \./\.opkit\|^\./\.opkit' >"$work/by_new"
diff "$work/by_git" "$work/by_new" || fail "new-kernel: the diff is not what the command does"
refused 'softmax_fused_vulkan.cpp exists' new-kernel Softmax --backend vulkan --name fused
"$scaffold" remove Softmax --kernel fused --backend vulkan >/dev/null
scratch_unchanged

# Every kind: the dry run writes nothing, its diff applies with git and with patch and gives what the command gives; the
# same command twice and the spec it prints change nothing; remove undoes it. The examples that `kinds` shows work. The
# values of a script go to the operator's case file.
echo 'def oracle(inputs, attributes): pass' >"$work/a script.py"
while read -r kind; do
  "$scaffold" new Thing --kind "$kind" --dry-run >"$work/diff"
  scratch_unchanged
  git apply "$work/diff" && scratch_listing >"$work/by_git" && git stash -qu && git stash drop -q
  patch -sp1 <"$work/diff" && scratch_listing >"$work/by_patch" && git stash -qu && git stash drop -q
  "$scaffold" new Thing --kind "$kind" --oracle-from "$work/a script.py" >"$work/out"
  store=$(sed -n "s|^  build/release/bin/op-harness check --op Thing --oracle '$work/a script.py' --store ||p" "$work/out")
  [ -n "$store" ] && grep -q '"op": "Thing"' "$store" || fail "$kind: no step that stores the script's values: $(cat "$work/out")"
  scratch_listing | grep -v ' \./\.opkit\|^\./\.opkit' >"$work/by_new"
  diff "$work/by_git" "$work/by_new" && diff "$work/by_patch" "$work/by_new" || fail "$kind: the diff is not what new does"
  "$scaffold" new Thing --kind "$kind" | grep >/dev/null '^nothing to do' || fail "$kind: twice is not a no-op"
  "$scaffold" new Thing --kind "$kind" --print-spec >"$work/spec.json"
  "$scaffold" new --spec "$work/spec.json" | grep >/dev/null '^nothing to do' || fail "$kind: its spec gives something else"
  [ -z "$("$scaffold" new Thing --kind "$kind" --dry-run)" ] || fail "$kind: a dry run of a no-op prints a diff"
  code=0
  "$scaffold" doctor Thing >"$work/out" || code=$?
  [ "$code" = 1 ] && grep -q 'mark left' "$work/out" || fail "$kind: doctor finds no marks"
  ! grep -v 'mark left\|findings' "$work/out" || fail "$kind: doctor finds more than marks"
  "$scaffold" remove Thing >/dev/null
  rm -rf .opkit
  scratch_unchanged
done < <("$scaffold" kinds | sed -n 's/^\([a-z]\+\) .*/\1/p')
while read -r example; do
  (eval "\"$scaffold\" ${example#op-scaffold } --dry-run") | git apply --check || fail "does not work: $example"
done < <("$scaffold" kinds | grep -o 'op-scaffold new .*')
"$scaffold" kinds | grep >/dev/null 'brings inputs data:any, indices:index; attributes axis:int=0$' ||
  fail "kinds does not name the inputs and attributes of kind gather"

# A record that names a file outside the tree, or is damaged, is refused by every command that reads it, --force or not.
"$scaffold" new Thing --kind rowwise >/dev/null
echo mine >"$work/victim"
cp .opkit/scaffold/Thing.json "$work/record.json"
for path in "$work/victim" "../$(realpath --relative-to=.. "$work")/victim" ''; do
  sed "s|\"files\": {|&\"$path\": \"0\",|" "$work/record.json" >.opkit/scaffold/Thing.json
  refused 'which is not in the tree; delete it' remove Thing --force
  refused 'which is not in the tree; delete it' rename Thing Other --force
done
for text in '{' '[]' '{"spec": {}, "files": [], "blocks": {}}' '{"spec": {}, "files": {}, "blocks": [1]}'; do
  echo "$text" >.opkit/scaffold/Thing.json
  refused 'is no record of op-scaffold; delete it' remove Thing --force
  refused 'is no record of op-scaffold; delete it' list
done
[ "$(cat "$work/victim")" = mine ] || fail "a file outside the tree was changed"
cp "$work/record.json" .opkit/scaffold/Thing.json

# A `remove` that was killed when one file was gone: the next command, whichever it is, puts it back and says so.
hash=$(grep -o '"ops/thing/thing.md": "[0-9a-f]*"' "$work/record.json" | cut -d'"' -f4)
for next in 'list' 'doctor Thing' 'remove Thing --dry-run' 'new Further --kind unary --dry-run'; do
  mkdir -p .opkit/pending/old .opkit/pending/new
  mv ops/thing/thing.md .opkit/pending/old/0
  printf '{"folders": [], "changes": [{"path": "ops/thing/thing.md", "before": "%s", "after": ""}]}' "$hash" >.opkit/pending/plan.json
  # shellcheck disable=SC2086
  "$scaffold" $next >/dev/null 2>"$work/err" || true
  [ "$(cat "$work/err")" = 'op-scaffold: undid a command that was killed' ] || fail "$next says: $(cat "$work/err")"
  [ -f ops/thing/thing.md ] && [ ! -e .opkit/pending ] || fail "$next does not undo"
done
"$scaffold" remove Thing >/dev/null
rm -rf .opkit
scratch_unchanged

# With --force another kind replaces the first one completely.
"$scaffold" new Thing --kind rowwise >/dev/null
refused 'exists and differs' new Thing --kind layout
"$scaffold" new Thing --kind layout --force >/dev/null
[ ! -e shaders/thing ] && [ ! -e ops/thing/thing_cpu.cpp ] || fail "--force leaves another kind's kernels"
echo edited >>ops/thing/thing.md
refused 'thing.md was edited' remove Thing
refused 'thing.md was edited' rename Thing Other
"$scaffold" rename Thing Other --force >/dev/null
"$scaffold" list | grep >/dev/null '^other  *Other\*$' || fail "list does not show the renamed operator"
"$scaffold" remove Other --force >/dev/null
rm -rf .opkit
scratch_unchanged

# Custom templates: those of eject give the same result; a changed one changes it; a broken one is named.
"$scaffold" eject "$work/templates" >/dev/null
"$scaffold" new Thing --kind reduce --dry-run >"$work/plain"
"$scaffold" --templates "$work/templates" new Thing --kind reduce --dry-run | diff "$work/plain" - || fail "ejected templates differ"
echo 'Ours: <% type %>' >>"$work/templates/common/op.md.mustache"
OPKIT_TEMPLATES="$work/templates" "$scaffold" new Thing --kind reduce --dry-run | grep -x >/dev/null '+Ours: Thing' || fail "a changed template is not used"
refused 'exists and differs; --force overwrites it' eject "$work/templates"
echo '<%#open%>' >"$work/templates/common/op.md.mustache"
refused 'common/op.md.mustache' --templates "$work/templates" new Thing --kind reduce

# Prompts on a terminal alone (`refused` above saw none).
printf 'Asked\nlayout\n' | script -qec "'$scaffold' new" /dev/null >"$work/out"
grep -q 'NAME (UpperCamel' "$work/out" && [ -f ops/asked/asked.cpp ] || fail "no prompt on a terminal: $(cat "$work/out")"
"$scaffold" remove Asked >/dev/null

# They check the backends that got kernels: elsewhere the check would fail.
for backend in cpu vulkan; do
  "$scaffold" new Thing --kind reduce --backend "$backend" >"$work/out"
  grep >/dev/null -x "  .*check --op Thing --backend $backend" "$work/out" || fail "--backend $backend: $(cat "$work/out")"
  "$scaffold" remove Thing >/dev/null
done
# Next steps are commands: from another folder they begin with cd, and name no folder that is not there.
(cd ops && "$scaffold" new Thing --kind layout) >"$work/out"
sed '1,/^Next:/d' "$work/out" | head -n 1 | grep -x >/dev/null "  cd $PWD" || fail "no cd in the next steps from elsewhere"
(cd ops && eval "$(sed '1,/^Next:/d' "$work/out" | grep -v 'cmake\|op-harness')") | grep >/dev/null 'SCAFFOLD:' || fail "the last step shows no marks"
"$scaffold" remove Thing >/dev/null
rm -rf .opkit
scratch_unchanged
rm -rf "$scratch" "$scratch.listing"
echo "$checked refusals, each in one line; every kind planned, written, repeated and removed"
