#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# capi/examples/llama.cpp as a test. CMakeLists.txt says what is in the environment.
set -euo pipefail

root=$ROUTECAP_SOURCE
# shellcheck source=packaging/lib/report.sh
. "$root/packaging/lib/report.sh"
# shellcheck source=packaging/lib/llama.sh
. "$root/packaging/lib/llama.sh"

skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}
obstacle=$(llama_obstacle)
[[ -z $obstacle ]] || skipped "$obstacle"
fetch_llama_cpp || skipped "node-llama-cpp $llama_version could not be fetched through npm"
# shellcheck disable=SC2153
build_llama_cpp "$LIBRARY"

mkdir -p "$WORK"
out=$WORK/out
err=$WORK/err

# run STATUS OPTION...: stdout and stderr are in the two files.
run() {
  local wanted=$1 status=0
  shift
  arguments=$*
  "$llama_program" --library "$llama_work/lib" --models "$WORK/models" "$@" >"$out" 2>"$err" || status=$?
  [[ $status -eq $wanted ]] || fail "$arguments: exit $status, not $wanted: $(cat "$err")"
}

# value KEY: of the JSON object on stdout.
value() {
  local found
  found=$(sed -nE "s/.*\"$1\": \"?([^,\"}]*)\"?[,}].*/\1/p" "$out")
  [[ -n $found ]] || fail "$arguments: there is no $1"
  printf '%s' "$found"
}
none() {
  local key
  for key in "$@"; do [[ $(value "$key") == 0 ]] || fail "$arguments: $key is $(value "$key")"; done
}
some() {
  local key
  for key in "$@"; do [[ $(value "$key") -gt 0 ]] || fail "$arguments: $key is $(value "$key")"; done
}
same() { [[ $1 == "$2" ]] || fail "$arguments: $1 is not $2"; }

# serve OPTION...: every record says what the plain run says, and the schedule had everything in it.
serve() {
  run 0 --json "$@"
  none cells_wrong cells_missing_wrong weights_wrong rows_left_after_removal warm_up_captured draft_can_be_allowed naive_gated_wrong
  some given_up mixed_forwards prompts_in_chunks prefix_rows_copied generated_rows_copied sequences_removed warm_up_asked
  [[ ! -s $err ]] || fail "$arguments: $(cat "$err")"
  # Not one cell is lost between those that are compared and those that are missing, and a row that was taken over counts for both requests.
  same $(($(value cells_compared) + $(value cells_missing))) $(($(value rows_compared) * $(value layers)))
  same "$(value requests)" 24
  [[ $(value rows_compared) -gt 1000 ]] || fail "$arguments: only $(value rows_compared) rows"
  # Level choices are rare where sums differ by float32's rounding: a good part of them would be a fault of another kind.
  [[ $(($(value cells_level) * 1000)) -lt $(value cells_compared) ]] || fail "$arguments: $(value cells_level) cells are level"
}
speculates() {
  some drafts_accepted drafts_rejected forwarded_past_the_end draft_captures_suppressed naive_open_wrong
}

# The engine prunes prompts from its last layer, and those cells are missing; with all outputs nothing is.
serve
speculates
some cells_missing rows_pruned
same "$(value family) $(value layers) $(value experts) $(value top_k)" "qwen3moe 8 64 8"
same "$(value micro_batches)" "$(value forwards)"
serve --all-outputs --weights
speculates
none cells_missing rows_pruned

# Batches that the engine cuts: first rows are derived.
serve --micro-batch 20 --weights --seed 2
speculates
some cells_missing
[[ $(value micro_batches) -gt $(value forwards) ]] || fail "$arguments: no batch was cut"
serve --micro-batch 7 --all-outputs --seed 3

# Without a draft nothing is denied, and a capturer without a gate is right as well.
serve --drafts 0 --seed 4
none drafts_accepted drafts_rejected draft_captures_suppressed naive_open_wrong

# DeepSeek-V3's routing: 58 layers of 61, 8 of 256 experts.
serve --family deepseek2 --weights --micro-batch 33
speculates
some cells_missing rows_pruned
same "$(value family) $(value layers) $(value experts) $(value top_k)" "deepseek2 58 256 8"
serve --family deepseek2 --all-outputs --seed 5
none cells_missing rows_pruned

# The same seed, the same run.
run 0 --json --seed 6
cp "$out" "$WORK/first"
run 0 --json --seed 6
cmp "$out" "$WORK/first"

# The comparison sees a row that stands one place off, and one that belongs to the same token somewhere else.
for fault in neighbour-rows same-token; do
  run 1 --json --inject "$fault"
  some cells_wrong
  grep -qE '^routecap_llama_cpp: request [0-9]+, token [0-9]+: layer [0-9]+ holds [0-9 ]+, and the plain run chose [0-9 ]+$' "$err" || fail "$(cat "$err")"
done

# The table says what the JSON says; the bench runs.
run 0 --seed 6
grep -qE '^cells \(row and layer\) compared +[0-9]+$' "$out" || fail "$(cat "$out")"
run 0 --bench --rounds 4 --json
[[ $(grep -c '"batch"' "$out") -eq 2 ]] || fail "$(cat "$out")"
run 0 --bench --rounds 4 --batch 2 --arm capture
[[ ! -s $out ]] || fail "$(cat "$out")"

# What is refused is named in one line.
refuses() {
  local status=$1 text=$2
  shift 2
  run "$status" "$@"
  if [[ $(wc -l <"$err") -ne 1 || -s $out ]] || ! grep -qF -- "$text" "$err"; then fail "$arguments: $(cat "$out" "$err")"; fi
}
refuses 2 "unknown option '--nonsense'" --nonsense
refuses 2 "--requests wants a whole number from 1 to 1000, not '0'" --requests 0
refuses 2 "--micro-batch wants a whole number from 1 to 64, not '65'" --micro-batch=65
refuses 2 "--family wants qwen3moe or deepseek2, not 'x'" --family x
refuses 2 "--inject wants neighbour-rows or same-token, not 'x'" --inject x
refuses 2 "--seed wants a value" --seed
refuses 2 "--arm wants off, asked, split or capture, not 'x'" --arm x
refuses 2 "--arm wants a --batch beside it" --bench --arm off
refuses 2 "--wide wants --bench beside it" --wide
refuses 2 "--arm wants --bench beside it" --batch 1 --arm off
refuses 2 "--batch wants --bench beside it" --batch 1
refuses 3 "/nowhere: No such file or directory" --library /nowhere
refuses 3 "has no libggml-base.*.so" --library "$WORK"
