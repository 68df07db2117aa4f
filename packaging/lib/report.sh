# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the script says: progress, time per part, skips and the closing lines.

logs=$root/build/log
skips=()
failures=()
parts=()

say() { printf 'routecap: %s\n' "$*" >&2; }
fail() {
  say "error: $*"
  exit 1
}

# Is NAME something that ROUTECAP_REQUIRE wants? The last pattern that matches decides; one that starts with `!` takes away.
is_required() {
  local name=$1 pattern verdict=1
  local -a patterns
  read -ra patterns <<<"${ROUTECAP_REQUIRE:-}"
  for pattern in ${patterns[@]+"${patterns[@]}"}; do
    # The right-hand sides are patterns on purpose.
    # shellcheck disable=SC2053
    if [[ $pattern == !* ]]; then
      [[ $name == ${pattern#!} ]] && verdict=1
    else
      [[ $name == $pattern ]] && verdict=0
    fi
  done
  return "$verdict"
}

# Parts run in subshells, so that `set -e` holds inside and one failure does not hide the next; skips travel through a file.
skip() {
  printf '%s\t%s\n' "$1" "$2" >>"$logs/$report.skips"
}

start_report() {
  report=$1
  mkdir -p "$logs"
  rm -f "$logs/$report."*
  : >"$logs/$report.skips"
}

# run_part NAME COMMAND...: runs it, keeps its time and goes on after a failure.
run_part() {
  local name=$1 began=$SECONDS status=0
  shift
  say "== $report: $name"
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
  parts+=("$(printf '%-22s %5.1f min' "$report $name" "$(minutes $((SECONDS - began)))")")
  if [[ $status -ne 0 ]]; then
    failures+=("$name")
    say "== $report: $name FAILED (exit $status)"
  fi
}

# Tenths of minutes without a calculator.
minutes() { printf '%d.%d' $(($1 / 60)) $(($1 % 60 / 6)); }

# Prints what was skipped, the time per part and ctest's closing lines; exits 1 on a failure or on a skip of something required.
finish_report() {
  local name reason line log
  while IFS=$'\t' read -r name reason; do
    if is_required "$name"; then
      failures+=("$name skipped though required")
    fi
    skips+=("$name: $reason")
  done < <(sort -u "$logs/$report.skips")

  {
    printf '\n'
    for line in ${skips[@]+"${skips[@]}"}; do printf 'skipped  %s\n' "$line"; done
    for line in ${parts[@]+"${parts[@]}"}; do printf '%s\n' "$line"; done
  } | tee "$logs/$report.parts" >&2
  for log in "$logs/$report".*.ctest; do
    [[ -e $log ]] || continue
    name=${log#"$logs/$report."}
    printf '%s %s: %s\n' "$report" "${name%.ctest}" "$(grep -E '^[0-9]+% tests passed' "$log" || printf 'ctest did not finish')"
  done | tee "$logs/$report.closing" >&2
  if [[ ${#failures[@]} -gt 0 ]]; then
    for line in "${failures[@]}"; do say "FAILED: $line"; done
    exit 1
  fi
  say "$report: all passed"
}
