#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run_fuzzer.sh PROGRAM SEEDS FOUND: runs a fuzzer for $ROUTECAP_FUZZ_SECONDS (30). What it finds that is new stays in FOUND, and so does what broke it.
set -eu
mkdir -p "$3"
# No input of 4 KiB may take a block of 4 MiB: decoders take 64 bytes for one and 1 MiB, compressed frames 256 for one.
exec "$1" -max_total_time="${ROUTECAP_FUZZ_SECONDS:-30}" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=4 -print_final_stats=1 \
  -artifact_prefix="$3/broken-" "$3" "$2"
