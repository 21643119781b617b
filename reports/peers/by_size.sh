#!/usr/bin/env bash
# Prints the table of README.md: times of OpKit as shares of ONNX Runtime's, by the time that a network takes ONNX Runtime on
# one thread. Usage: reports/peers/by_size.sh [FILE], a record of onnxruntime.sh (default: measured.tsv of this folder).
set -euo pipefail
file=${1:-$(dirname "$0")/measured.tsv}
[ -r "$file" ] || { echo "by_size: cannot read '$file'" >&2; exit 2; }
awk -F'\t' '
  /^#/ || $1 == "network" || $2 == "" { next }
  $2 == 1 { base[$1] = $3 }
  { name[++n] = $1; threads[n] = $2; theirs[n] = $3; ours[n] = $4 }
  function classOf(ms) { return ms < 1 ? "below 1 ms" : ms < 10 ? "1 to 10 ms" : "10 ms and more" }
  function add(key, r, who) {
    logs[key] += log(r); count[key]++; above[key] += r > 1
    if (r > worst[key]) { worst[key] = r; worstOf[key] = who }
  }
  function cell(class, t,   key) {
    key = class SUBSEP t
    if (!count[key]) return "no network"
    return sprintf("%.2f; %d above 1, at most %.2f (%s)", exp(logs[key] / count[key]), above[key], worst[key], worstOf[key])
  }
  END {
    for (i = 1; i <= n; i++) {
      add(classOf(base[name[i]]) SUBSEP threads[i], ours[i] / theirs[i], name[i])
      add("all" SUBSEP threads[i], ours[i] / theirs[i], name[i])
      a[threads[i]] += ours[i]; b[threads[i]] += theirs[i]
    }
    if (!n) { print "by_size: no time in the record" > "/dev/stderr"; exit 2 }
    print "| ONNX Runtime takes | networks | one thread | two threads |"
    print "|---|---|---|---|"
    split("below 1 ms,1 to 10 ms,10 ms and more,all", classes, ",")
    for (c = 1; c <= 4; c++)
      printf "| %s | %d | %s | %s |\n", classes[c], count[classes[c] SUBSEP 1], cell(classes[c], 1), cell(classes[c], 2)
    printf "| sums of all times | | %.2f | %.2f |\n", a[1] / b[1], a[2] / b[2]
  }' "$file"
