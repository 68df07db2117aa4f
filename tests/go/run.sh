#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of the Go tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
module=$ROUTECAP_SOURCE/bindings/go
failed() {
  printf '%s\n' "$*" >&2
  exit 1
}
skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}

[[ -x ${GO:-} ]] || skipped "Go 1.25 or newer is not installed"
# No other toolchain is fetched, and nothing but the tests' own tools comes from the net.
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
# Go's cache knows a compiled package by its flags and not by what pkg-config said: name the place, so that no other build's library is linked.
export CGO_CPPFLAGS=-I$PKG_CONFIG_PATH
version=$("$GO" env GOVERSION)
case $version in
  go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-4] | go1.2[0-4].*) skipped "Go 1.25 or newer is not installed ($GO is $version)" ;;
esac
command -v pkg-config >/dev/null || skipped "pkg-config is not installed"

rm -rf "$WORK"
mkdir -p "$WORK"
cd "$module"

# A Go test that was skipped is a skip of this one.
go_test() {
  local log=$WORK/log
  "$GO" test -v -count=1 "$@" >"$log" 2>&1 || {
    grep -vE '^=== |^--- PASS|^    --- PASS' "$log" >&2
    exit 1
  }
  grep -E '^(ok|PASS)' "$log"
  local runs
  runs=$(grep -c '^--- PASS' "$log") || true
  [[ $runs -gt 20 ]] || failed "only $runs tests ran"
  if grep -E '^ *--- SKIP' "$log" >&2; then failed "a test was skipped"; fi
}

case $part in
  unit) go_test ./... ;;

  race) ROUTECAP_GO_SCALE=10 go_test -race ./... ;;

  cgocheck2) ROUTECAP_GO_SCALE=10 GOEXPERIMENT=cgocheck2 go_test ./... ;;

  dlopen)
    # Without cgo, over the function table of a library that is loaded at run time; and the same with cgo.
    "$GO" mod download github.com/ebitengine/purego >"$WORK/download" 2>&1 || skipped "github.com/ebitengine/purego could not be fetched"
    export ROUTECAP_LIBRARY=$LIBRARY ROUTECAP_GO_SCALE=10
    (unset PKG_CONFIG_PATH && CGO_ENABLED=0 go_test ./...)
    (unset PKG_CONFIG_PATH && go_test -tags routecap_dlopen .)
    CGO_ENABLED=0 "$GO" vet .
    CGO_ENABLED=0 "$GO" vet -unsafeptr=false ./internal/native
    ;;

  vet)
    "$GO" vet . ./examples/...
    "$GO" vet -unsafeptr=false ./internal/native
    unformatted=$(find . -name '*.go' ! -path './internal/native/routecap.go' -exec "$(dirname "$GO")/gofmt" -l {} + 2>/dev/null) || unformatted=
    [[ -z $unformatted ]] || failed "not as gofmt writes it: $unformatted"
    # One finding, in SWIG's helper for the strings that C returns (swigCopyString), and no other.
    "$GO" vet -unsafeptr ./internal/native >"$WORK/native" 2>&1 || true
    grep -v '^#' "$WORK/native" >"$WORK/findings" || true
    [[ $(wc -l <"$WORK/findings") -eq 1 ]] || failed "$(cat "$WORK/native")"
    line=$(sed -nE 's/^internal\/native\/routecap\.go:([0-9]+):[0-9]+: possible misuse of unsafe\.Pointer$/\1/p' "$WORK/findings")
    [[ -n $line ]] || failed "$(cat "$WORK/native")"
    sed -n "$((line - 2))p" internal/native/routecap.go | grep -q 'func swigCopyString' || failed "$(cat "$WORK/native")"
    ;;

  staticcheck)
    tool=honnef.co/go/tools/cmd/staticcheck@v0.7.0
    "$GO" run "$tool" -version >"$WORK/version" 2>&1 || skipped "$tool could not be fetched or built"
    "$GO" run "$tool" . ./examples/...
    ;;

  fuzz)
    # Fuzzing keeps what it found interesting in the build cache, and what failed in testdata: that belongs into the tree.
    "$GO" test -run xxx -fuzz FuzzDecode -fuzztime "${ROUTECAP_FUZZ_SECONDS:-5}s" .
    ;;

  bench)
    # Each once: that they run, and that what must not allocate does not. Times are for `go test -bench .`.
    "$GO" test -run xxx -bench . -benchtime 100x . | tee "$WORK/log"
    for name in BenchmarkTapCapture BenchmarkForward BenchmarkRead/into; do
      grep -E "^$name(-[0-9]+)? .* 0 allocs/op" "$WORK/log" >/dev/null || failed "$name allocates"
    done
    ;;

  serving)
    "$GO" build -o "$WORK/serving" ./examples/serving
    "$WORK/serving" "$WORK/request.frame" >"$WORK/routed"
    [[ $(wc -l <"$WORK/routed") -eq 33 ]] || failed "the example printed $(wc -l <"$WORK/routed") lines"
    "$PRINT_FRAME" "$WORK/request.frame" >"$WORK/recorded"
    diff "$WORK/routed" "$WORK/recorded" || failed "C reads other rows than the router chose"
    ;;

  quickstart)
    "$GO" build -o "$WORK/quickstart" ./examples/quickstart
    "$WORK/quickstart" >"$WORK/printed"
    # README's block of output is the C sample's too.
    awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROUTECAP_SOURCE/README.md" >"$WORK/promised"
    [[ -s $WORK/promised ]] || failed "README.md has no block of output"
    diff "$WORK/promised" "$WORK/printed"
    ;;

  other_swig)
    # Another SWIG writes other files, so it is refused before it writes any.
    printf '#!/bin/sh\necho "SWIG Version 4.1.0"\n' >"$WORK/swig"
    chmod +x "$WORK/swig"
    if ROUTECAP_SWIG=$WORK/swig "$ROUTECAP_SOURCE/packaging/run" --no-install bindings --check 2>"$WORK/log"; then failed "SWIG 4.1.0 was taken"; fi
    grep -qF "the bindings are made by SWIG 4.5.1, and $WORK/swig is 4.1.0" "$WORK/log" || failed "$(cat "$WORK/log")"
    ;;

  no_library)
    # Without the development package a build names the file that it wants.
    mkdir -p "$WORK/empty"
    if CGO_CPPFLAGS=-I$WORK/empty PKG_CONFIG_PATH=$WORK/empty PKG_CONFIG_LIBDIR=$WORK/empty "$GO" build -o "$WORK/serving" ./examples/serving >"$WORK/log" 2>&1; then
      failed "a program was built without the library"
    fi
    grep -q 'Package routecap was not found in the pkg-config search path' "$WORK/log" || failed "$(cat "$WORK/log")"
    grep -q 'Package routecap was not found' README.md || failed "README.md does not explain this message"
    ;;

  module)
    # A user's module, built against the installed library with what a user has: no SWIG, no file of the project but the module's own.
    export PKG_CONFIG_PATH=$STAGE/$LIBDIR/pkgconfig CGO_CPPFLAGS=-I$STAGE/$LIBDIR/pkgconfig
    cp -r "$module" "$WORK/fetched"
    mkdir -p "$WORK/user" "$WORK/bin"
    for tool in gcc cc pkg-config as ld env bash; do
      if path=$(command -v "$tool"); then ln -s "$path" "$WORK/bin/$tool"; fi
    done
    cd "$WORK/user"
    cp "$module/examples/serving/main.go" .
    export PATH=$WORK/bin
    if command -v swig >/dev/null; then failed "swig is on this user's path"; fi
    "$GO" mod init example.com/user 2>/dev/null
    "$GO" mod edit -require=github.com/routecap/routecap/bindings/go@v0.0.0 -replace=github.com/routecap/routecap/bindings/go=../fetched
    # Through cgo nothing beyond the standard library is needed, not even to look at.
    GOPROXY=off GOFLAGS="-buildvcs=false -mod=mod" GOMODCACHE=$WORK/modules "$GO" build -o ../program .
    LD_LIBRARY_PATH=$STAGE/$LIBDIR ../program ../request.frame >../routed
    "$PRINT_FRAME" ../request.frame >../recorded
    [[ $(<../routed) == "$(<../recorded)" ]] || failed "C reads other rows than the router chose"
    # The module's own tests need nothing of the project either: what looks at its files is skipped.
    cd ../fetched
    LD_LIBRARY_PATH=$STAGE/$LIBDIR ROUTECAP_SOURCE='' ROUTECAP_GO_SCALE=1 "$GO" test -count=1 .
    ;;

  *) failed "no part '$part'" ;;
esac
