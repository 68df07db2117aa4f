#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of the Rust tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
workspace=$ROUTECAP_SOURCE/bindings/rust
failed() {
  printf '%s\n' "$*" >&2
  exit 1
}
skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}

[[ -x ${CARGO:-} ]] || skipped "Rust 1.85 or newer is not installed"
release=$("$CARGO" --version | sed -nE 's/^cargo 1\.([0-9]+)\..*/\1/p')
[[ ${release:-0} -ge 85 ]] || skipped "Rust 1.85 or newer is not installed ($CARGO is $("$CARGO" --version))"

export CARGO_TARGET_DIR=$ROUTECAP_SOURCE/build/rust/target ROUTECAP_LIB_DIR=$LIBRARY_FOLDER ROUTECAP_INCLUDE_DIR=$ROUTECAP_SOURCE/capi/include
export LD_LIBRARY_PATH=$LIBRARY_FOLDER CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
features=async,half,ndarray,serde
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$workspace"

# What tests need is fetched by whoever comes first; without a registry, and nothing fetched before, they are skipped.
"$CARGO" fetch --quiet --locked >"$WORK/fetch" 2>&1 || "$CARGO" fetch --quiet --locked --offline >>"$WORK/fetch" 2>&1 ||
  skipped "the crates that the tests need could not be fetched: $(tail -n 1 "$WORK/fetch")"

cargo() {
  local command=$1
  shift
  "$CARGO" "$command" --locked --offline "$@"
}

# cargo_test ARGUMENT...: shows the log of what failed, and counts what ran.
cargo_test() {
  local log=$WORK/log runs
  cargo test --quiet "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
  runs=$(sed -nE 's/^test result: ok\. ([0-9]+) passed; 0 failed; 0 ignored.*/\1/p' "$log" | awk '{ sum += $1 } END { print sum + 0 }')
  printf '%s tests passed\n' "$runs"
  [[ $runs -gt 0 ]] || failed "no test ran: $(cat "$log")"
}

case $part in
  unit)
    cargo_test -p routecap-sys
    cargo_test -p routecap --features $features --lib --test suite --test allocations
    grep -qE '^test result: ok\. [3-9][0-9] passed' "$WORK/log" || failed "fewer than 30 tests ran: $(cat "$WORK/log")"
    ;;

  lint)
    # Warnings, clippy's pedantic ones and what the stated oldest Rust lacks are errors (Cargo.toml has the lints that are allowed).
    cargo clippy --quiet --workspace --all-targets --features routecap/async,routecap/half,routecap/ndarray,routecap/serde
    cargo clippy --quiet -p routecap-sys -p routecap --features routecap/dynamic-loading
    # Each feature stands alone, and so do the crates without any.
    for alone in "" ${features//,/ }; do cargo clippy --quiet -p routecap --features "$alone"; done
    # The generated tests are laid out by the generator.
    "$CARGO" fmt -p routecap -p routecap-sys -p gateway -p generator -p compile-fail -p loom-tests --check >"$WORK/format" 2>&1 || true
    unformatted=$(grep '^Diff in' "$WORK/format" | grep -v '/routecap-sys/tests/layouts.rs') || true
    [[ -z $unformatted ]] || failed "not as rustfmt writes it: $unformatted"
    ;;

  bindgen)
    compgen -G "${LIBCLANG_PATH:-/usr/lib/llvm-*/lib}/libclang*.so*" >/dev/null || skipped "libclang is not installed (Debian: clang)"
    # The header as libclang reads it has the functions, types and layouts that SWIG's XML gave, and the library exports them.
    cargo_test -p routecap-sys --features buildtime-bindgen --test bindgen --test layouts
    sed -nE 's/^    pub fn (rcap_[a-z0-9_]+)\(.*/\1/p' routecap-sys/src/ffi.rs | sort >"$WORK/declared"
    nm -D --defined-only "$LIBRARY" | sed -nE 's/.* T (rcap_[a-z0-9_]+)(@.*)?$/\1/p' | sort >"$WORK/exported"
    grep -oE '\brcap_[a-z0-9_]+;' "$ROUTECAP_SOURCE"/capi/abi/*.map | sed -E 's/.*(rcap_[a-z0-9_]+);/\1/' | sort >"$WORK/versioned"
    diff "$WORK/declared" "$WORK/exported" || failed "ffi.rs and the library have other functions"
    diff "$WORK/declared" "$WORK/versioned" || failed "ffi.rs and the version script have other functions"
    [[ $(wc -l <"$WORK/declared") -eq 100 ]] || failed "$(wc -l <"$WORK/declared") functions"
    ;;

  dlopen)
    # The same tests over a library that is found at run time; without one, an error that says where it was looked for.
    export ROUTECAP_LIBRARY=$LIBRARY
    unset LD_LIBRARY_PATH ROUTECAP_LIB_DIR
    PKG_CONFIG_PATH=$WORK PKG_CONFIG_LIBDIR=$WORK cargo_test -p routecap --features $features,dynamic-loading --test suite --test library_not_found
    ;;

  docs)
    # As docs.rs builds them: without the library. And the examples in them run.
    env -u ROUTECAP_LIB_DIR DOCS_RS=1 RUSTDOCFLAGS='-D warnings' PKG_CONFIG_LIBDIR="$WORK" cargo doc --quiet --no-deps -p routecap-sys -p routecap --all-features \
      2>"$WORK/log" || failed "$(cat "$WORK/log")"
    [[ ! -s $WORK/log ]] || failed "$(cat "$WORK/log")"
    cargo_test -p routecap --features $features --doc
    ;;

  public_api)
    # What the crates offer, name by name: a change that is meant is committed with ROUTECAP_UPDATE=1.
    # Its JSON is what nightly's rustdoc writes; this release's does so if it is let.
    printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$WORK/rustdoc"
    chmod +x "$WORK/rustdoc"
    for crate in routecap-sys routecap; do
      options=()
      [[ $crate == routecap ]] && options=(--features "$features")
      DOCS_RS=1 RUSTDOC=$WORK/rustdoc cargo rustdoc --quiet -p $crate --lib "${options[@]}" -- -Z unstable-options --output-format json --document-hidden-items
      cargo run --quiet -p generator --bin public_api -- "$CARGO_TARGET_DIR/doc/${crate//-/_}.json" >"$WORK/$crate"
      [[ $(wc -l <"$WORK/$crate") -gt 200 ]] || failed "$crate offers $(wc -l <"$WORK/$crate") things"
      [[ ${ROUTECAP_UPDATE:-} == 1 ]] && cp "$WORK/$crate" "$crate/public-api.txt"
      diff "$crate/public-api.txt" "$WORK/$crate" || failed "$crate offers something else than public-api.txt says"
    done
    ;;

  compile_fail)
    # What must not compile does not, for the reason that is meant: the compiler's words are compared, and they are this release's.
    [[ $release -eq 95 ]] || skipped "the compiler's words are those of Rust 1.95, and this is 1.$release"
    cargo_test -p compile-fail
    ;;

  asan)
    # The crate's tests with the sanitizer in Rust's code and in the library, which this build made with clang; the runtime is rustc's. Rust keeps
    # sanitizers to nightly: this release's compiler has them if it is let. There is no part for the thread sanitizer: the standard library is not
    # instrumented, so that everything its locks and channels guard, tokio's queues among them, is taken for a race.
    target=$("$(dirname "$CARGO")/rustc" -vV | sed -n 's/^host: //p')
    compgen -G "$("$(dirname "$CARGO")/rustc" --print sysroot)/lib/rustlib/$target/lib/librustc-*_rt.asan.a" >/dev/null ||
      skipped "this Rust has no runtime of the address sanitizer for $target"
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer" CARGO_TARGET_DIR=$CARGO_TARGET_DIR/asan
    # Resident memory is the sanitizer's too; leaks are its own to find.
    cargo_test -p routecap --target "$target" --features $features --lib --test suite -- --skip lifetimes::nothing_leaks
    grep -qE '^test result: ok\. [3-9][0-9] passed' "$WORK/log" || failed "fewer than 30 tests ran: $(cat "$WORK/log")"
    # That the sanitizer is there, on both sides: what is done wrong in Rust is found where it shows, in the library.
    # shellcheck disable=SC2086
    "$(dirname "$CARGO")/rustc" $RUSTFLAGS --edition 2024 --target "$target" -L "$LIBRARY_FOLDER" -l routecap -o "$WORK/misuse" \
      "$(dirname "$(realpath "$0")")/misuse.rs"
    if "$WORK/misuse" >"$WORK/said" 2>&1; then failed "what is done wrong is not found"; fi
    grep -q 'Sanitizer: heap-use-after-free' "$WORK/said" || failed "$(cat "$WORK/said")"
    grep -qE '^ +#[0-9]+ .*(libroutecap\.so|/capi/src/|/src/support/)' "$WORK/said" || failed "$(cat "$WORK/said")"
    ;;

  bench)
    # Each once: that they run. Times are for `cargo bench -p routecap`.
    cargo bench --quiet -p routecap --features $features --bench calls --profile dev -- --test >"$WORK/log" 2>&1 || failed "$(cat "$WORK/log")"
    [[ $(grep -c '^Success' "$WORK/log") -ge 4 ]] || failed "$(cat "$WORK/log")"
    ;;

  serving)
    cargo build --quiet -p routecap --features $features --example serving
    "$CARGO_TARGET_DIR/debug/examples/serving" "$WORK/request.frame" >"$WORK/routed"
    [[ $(wc -l <"$WORK/routed") -eq 33 ]] || failed "the example printed $(wc -l <"$WORK/routed") lines"
    # The frame holds what the router chose, says the routecap command.
    [[ -x ${ROUTECAP_COMMAND:-} ]] || skipped "the routecap command is not built"
    "$ROUTECAP_COMMAND" convert "$WORK/request.frame" --to lists -o "$WORK/recorded.json"
    sed -E 's/^token [0-9]+, layer [0-9]+: \[(.*)\]$/\1/' "$WORK/routed" >"$WORK/want"
    python3 - "$WORK/recorded.json" >"$WORK/recorded" <<'PYTHON'
import json, sys
for row in json.load(open(sys.argv[1])):
    for experts in row:
        print(*experts)
PYTHON
    diff "$WORK/want" "$WORK/recorded" || failed "the command reads other rows than the router chose"
    "$ROUTECAP_COMMAND" validate "$WORK/request.frame" >"$WORK/validated"
    ;;

  quickstart)
    cargo build --quiet -p routecap --features $features --example quickstart
    "$CARGO_TARGET_DIR/debug/examples/quickstart" >"$WORK/printed"
    awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROUTECAP_SOURCE/README.md" >"$WORK/promised"
    [[ -s $WORK/promised ]] || failed "README.md has no block of output"
    diff "$WORK/promised" "$WORK/printed"
    ;;

  gateway)
    cargo_test -p gateway
    # The commands of its README, on ports below those that the system gives to connections.
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' gateway/README.md >"$WORK/commands"
    [[ $(grep -c . "$WORK/commands") -eq 6 ]] || failed "gateway/README.md has other commands: $(cat "$WORK/commands")"
    if command -v curl >/dev/null; then
      sed -i -E "s/127\.0\.0\.1:800([0-9])/127.0.0.1:$((2000 + $$ % 1000))\1/g; s|^cargo build .*|ln -s '$CARGO_TARGET_DIR' target|; s|^target/release/|target/debug/|" "$WORK/commands"
      printf 'kill %%1 %%2 %%3\n' >>"$WORK/commands"
      mkdir "$WORK/readme"
      (cd "$WORK/readme" && bash -m ../commands) >"$WORK/said" 2>"$WORK/errors" || failed "$(cat "$WORK/said" "$WORK/errors")"
      # A stream of two choices of four tokens, as prime's object.
      [[ $(grep -c '^data: {"choices":.*"routed_experts":{' "$WORK/said") -ge 2 && $(grep -c '^data: \[DONE\]$' "$WORK/said") -eq 1 ]] ||
        failed "$(cat "$WORK/said" "$WORK/errors")"
    else
      printf 'without the commands of README.md: curl is not installed\n'
    fi
    ;;

  no_library)
    # Without the library a build says what to install.
    if env -u ROUTECAP_LIB_DIR PKG_CONFIG_PATH="$WORK" PKG_CONFIG_LIBDIR="$WORK" CARGO_TARGET_DIR="$WORK/target" cargo build --quiet -p routecap-sys \
      >"$WORK/log" 2>&1; then
      failed "it was built without the library"
    fi
    grep -q 'error: routecap-sys@.*libroutecap was not found: install libroutecap-dev' "$WORK/log" || failed "$(cat "$WORK/log")"
    mkdir -p "$WORK/empty"
    if ROUTECAP_LIB_DIR=$WORK/empty CARGO_TARGET_DIR=$WORK/target cargo build --quiet -p routecap-sys >"$WORK/log" 2>&1; then
      failed "it was built with an empty folder"
    fi
    grep -q "ROUTECAP_LIB_DIR is $WORK/empty, which has no libroutecap.so" "$WORK/log" || failed "$(cat "$WORK/log")"
    ;;

  loom)
    # The waits of outputs under every order of threads (within a number of switches).
    cargo_test -p loom-tests --release
    grep -q '^test result: ok\. 3 passed' "$WORK/log" || failed "$(cat "$WORK/log")"
    ;;

  miri)
    "$CARGO" +nightly miri --version >/dev/null 2>&1 || skipped "no nightly toolchain with Miri is installed (rustup +nightly component add miri)"
    MIRIFLAGS=-Zmiri-strict-provenance "$CARGO" +nightly miri test --locked -p routecap --lib --features $features
    ;;

  package)
    # Both crates as they would be uploaded, built against the installed library as a user has it: no libclang, no file of the project but the crates' own.
    git -C "$ROUTECAP_SOURCE" ls-files -z bindings/rust 2>/dev/null | (cd "$ROUTECAP_SOURCE" && xargs -0 -r cp --parents -t "$WORK")
    [[ -e $WORK/bindings/rust/Cargo.toml ]] || cp -r --parents "$workspace" "$WORK" 2>/dev/null
    [[ -e $WORK/bindings/rust/Cargo.toml ]] || skipped "the tree is no git checkout"
    cd "$WORK/bindings/rust"
    unset ROUTECAP_LIB_DIR ROUTECAP_INCLUDE_DIR ROUTECAP_SOURCE
    export PKG_CONFIG_PATH=$STAGE/$LIBDIR/pkgconfig LD_LIBRARY_PATH=$STAGE/$LIBDIR LIBCLANG_PATH=/nowhere CARGO_TARGET_DIR=$WORK/target
    "$CARGO" package --quiet --locked --offline --no-verify -p routecap-sys -p routecap
    mkdir -p "$WORK/user/src"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
    for crate in routecap-sys routecap; do
      tar -xzf "$CARGO_TARGET_DIR/package/$crate-$version.crate" -C "$WORK/user"
      [[ -s $WORK/user/$crate-$version/README.md ]] || failed "$crate has no README.md"
    done
    cd "$WORK/user"
    cp "$workspace/routecap/examples/serving.rs" src/main.rs
    cp "$workspace/Cargo.lock" .
    cat >Cargo.toml <<TOML
[package]
name = "user"
version = "0.0.0"
edition = "2024"
[dependencies]
routecap = "$version"
[patch.crates-io]
routecap = { path = "routecap-$version" }
routecap-sys = { path = "routecap-sys-$version" }
[workspace]
TOML
    "$CARGO" build --quiet --offline
    "$CARGO_TARGET_DIR/debug/user" "$WORK/request.frame" >"$WORK/routed"
    [[ $(wc -l <"$WORK/routed") -eq 33 && -s $WORK/request.frame ]] || failed "the user's program printed $(wc -l <"$WORK/routed") lines"
    # The same with the static library in it, found by its folder and by pkg-config, also where that is a folder of the system's.
    statically() {
      local name=$1
      shift
      env ROUTECAP_STATIC=1 CARGO_TARGET_DIR="$WORK/static" "$@" "$CARGO" build --quiet --offline >"$WORK/log" 2>&1 || failed "$name: $(cat "$WORK/log")"
      if readelf -d "$WORK/static/debug/user" | grep -q libroutecap; then failed "$name: the static library was asked for, and the shared one is linked"; fi
      diff <(env -u LD_LIBRARY_PATH "$WORK/static/debug/user" "$WORK/static.frame") "$WORK/routed" || failed "$name: linked statically it gives other rows"
    }
    statically folder ROUTECAP_LIB_DIR="$STAGE/$LIBDIR"
    statically pkg-config PKG_CONFIG_PATH="$STAGE/$LIBDIR/pkgconfig"
    mkdir -p "$WORK/system"
    sed "s|^libdir=.*|libdir=$STAGE/$LIBDIR|" "$STAGE/$LIBDIR/pkgconfig/routecap.pc" >"$WORK/system/routecap.pc"
    statically "the system's folder" PKG_CONFIG_PATH="$WORK/system" PKG_CONFIG_SYSTEM_LIBRARY_PATH="$STAGE/$LIBDIR"
    # Without one, the build says so and takes nothing in its place.
    mkdir -p "$WORK/shared"
    cp -P "$STAGE/$LIBDIR"/libroutecap.so* "$WORK/shared"
    sed "s|^libdir=.*|libdir=$WORK/shared|" "$WORK/system/routecap.pc" >"$WORK/shared/routecap.pc"
    for found in "PKG_CONFIG_PATH=$WORK/shared" "ROUTECAP_LIB_DIR=$WORK/shared"; do
      if env "$found" ROUTECAP_STATIC=1 CARGO_TARGET_DIR="$WORK/static" "$CARGO" build --quiet --offline >"$WORK/log" 2>&1; then
        failed "$found: a program was linked, and there is no libroutecap.a"
      fi
      grep -qE "error: routecap-sys@.*$WORK/shared, which .*has no libroutecap\.a" "$WORK/log" || failed "$(cat "$WORK/log")"
    done
    ;;

  *) failed "no part '$part'" ;;
esac
