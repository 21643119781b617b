# The parts of the full night, in the order of a first round: name, estimated minutes on two cores, command. Sourced by
# parts.sh. $out is the folder of the part, $day the number of the day. Parts that build come before those that use it.

# Every case, drawn ones too, on both backends.
harness check 3 12 'check --backend cpu,vulkan --expectations reports/expectations'
harness pairs 6 10 "check --budget none --filter 'drawn for the pair' --backend cpu,vulkan"
harness drawn 2 8 'check --written --filter drawn --fuzz 4 --seed $day --backend cpu,vulkan'

# Devices that differ: a set of the day, so that a few nights see all cases. The second driver takes thirteen times as long.
day_set() { part "$1" "$2" "\$bin/op-harness check --backend vulkan --json \$out/results.jsonl $3"; }  # name, minutes, options
harness driver 2 12 'check --written --brief --backend vulkan --driver "$(cmake/unpack_driver.sh mesa)" --expectations reports/expectations'
for class in discrete integrated software; do day_set "class-$class" 10 "--budget 600 --device-class $class"; done
for width in 128 512; do day_set "width-$width" 10 "--budget 600 --vector-width $width"; done
day_set sync 10 '--budget 300 --validation sync'
# Each mask; pairs by the day.
drawn='shuf -n 2 --random-source=<(yes $day) | paste -sd,'  # two of the lines, by the day
masked='--backend vulkan --json $out/results.jsonl'
part masks 12 "for mask in \$(\$bin/op-harness list --masks); do \$bin/op-harness check --budget 40 --mask \$mask $masked; done"
part mask-pairs 12 "for n in 1 2 3 4; do \$bin/op-harness check --budget 150 --mask \"\$(\$bin/op-harness list --masks |
  shuf -n 2 --random-source=<(yes \$day\$n) | paste -sd,)\" $masked; done"
# The traces of all shaders of small cases.
for class in discrete integrated software; do
  harness "sanitize-$class" 6 12 "check --written --backend vulkan --device-class $class --sanitize=race,bounds,init"
done
# Each shader that a class of devices runs, in one part per class.
for class in discrete integrated software; do
  part "shaders-$class" 10 \
    "\$bin/op-harness check --sample --written --backend vulkan --device-class $class --sanitize=race,bounds,init --json \$out/results.jsonl"
done
harness loops 6 9 'check --written --backend vulkan --sanitize=loops'

# Models and data of others.
for backend in reference cpu vulkan; do
  harness "onnx-$backend" 1 8 "conformance --backend $backend --expectations reports/expectations"
done
models='decoder detector mobilenet_v1_fp16 mobilenet_v2 resnet50 squeezenet transformer unet vit'
part models 11 "for name in $models; do \$bin/op-harness model zoo:\$name --backend vulkan --json \$out/results.jsonl; done"

# Times, and what kernels ask of a GPU.
harness bench 2 10 'bench --backend cpu,vulkan --samples 5'
harness roof 2 10 'bench --roof --floor 0.05 --threads 1'
harness roof-large 2 10 'bench --roof --size large --threads 1'
harness access 2 10 'shaders --access --goals'
# Drawn shapes of single nodes beside ONNX Runtime, others every day; needs node, npm and, once, the network.
part hunt 11 'reports/peers/hunt.sh --seed $day --budget 540 --bin $bin --record $out/hunt.tsv'

# Faults that must be found, processes that are killed.
part planted 10 'OPKIT_PLANTED=all build/release/harness/planted_test'
part mutate-sources 12 'harness/mutate/mutate_sources.sh --count 4'
part mutate-kernels 12 "\$bin/op-harness mutate --op \"\$(\$bin/op-harness list | cut -d' ' -f1 | $drawn)\" --json \$out/results.jsonl"
part drawn-passes 8 'OPKIT_PASS_DRAWS=2000 OPKIT_DAY=$day build/release/ops/ops_test --gtest_filter=DrawnPasses.*'
part texts 10 'printf "0\n1\n" | OPKIT_TEXTS=10000 OPKIT_TEXTS_SECONDS=60 OPKIT_DAY=$day xargs -P2 -I@ env GTEST_TOTAL_SHARDS=2 \
  GTEST_SHARD_INDEX=@ build/release/fuzz/texts_test --gtest_brief=1'
part allocations 10 'OPKIT_ALLOCATIONS=all OPKIT_DAY=$day build/release/harness/allocations_test'
part hostile 12 'harness/testing/hostile_test.sh . $bin $out/hostile'
part fail-calls 12 'harness/testing/fail_calls.py --most 80 --seed $day . $bin build/release/harness $out/fail_calls'
# Another engine: needs npm and, once, the network. What it gets wrong turns nothing red, what the harness does not survive does.
part foreign 9 'reports/night/foreign.sh $bin $out $day'
part export 4 'build/release/bin/op-harness export --round-trip $out/export'

# The tests that ./test leaves out, by label, and the whole of those that it shortens. (The cases of the label night-ops are
# those of the parts `check`.)
tests='ctest --test-dir build/release --output-on-failure --no-tests=error'
part tests-units 12 "$tests -j2 -L '^night-units$'"
part tests-programs 12 "$tests -j2 -L '^night-programs$'"
part tests-scaffold 12 "OPKIT_KINDS=all $tests -L '^night-scaffold$'"
part ops-page 12 "OPKIT_OPS_PAGE=all $tests -R '^ops_page$'"

# The first page, as written, in a folder where nothing is built; builds of a few operators by the day.
part first-operator 12 'source cmake/scratch_tree.sh; scratch_copy . "$PWD/$out/tree"
  docs/run_commands build/native/bin docs/first-operator.md; rm -rf "$scratch"'
part partial-build 12 "reports/night/partial_build.sh \$bin \$out \$(\$bin/op-harness list | tail -n +2 | cut -d' ' -f1 |
  shuf -n 3 --random-source=<(yes \$day))"
part dist 8 "reports/night/dist.sh build/release \$out"
part device 11 "reports/night/device.sh \$bin \$out"

# Every source and header.
part headers 8 'cmake/check_headers.sh build/release'
tidy() { part "tidy-$1" 12 "cmake/run_clang_tidy.sh --all build/release '^($2)'"; }  # name, pattern of paths
tidy engine-backend engine/backend
tidy engine 'engine/([^b]|base)'
tidy ops-a-c 'ops/[a-c]'
tidy ops-d-l 'ops/[d-l]'
tidy ops-m-q 'ops/[m-q]'
tidy ops-r-z 'ops/[r-z]'
tidy harness harness
tidy others 'api|docs|fuzz|reports|scaffold'
for ((i = 1; i <= 6; ++i)); do part "sanitizers-$i" 12 "cmake/run_sanitizers.sh --part $((i - 1))"; done
