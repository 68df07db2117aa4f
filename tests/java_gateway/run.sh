#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of these tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
binding=$ROUTECAP_SOURCE/bindings/java
failed() {
  printf '%s\n' "$*" >&2
  exit 1
}
skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}

command -v javac >/dev/null || skipped "no JDK is installed (17 or newer)"
[[ -n ${JNI:-} && -e $JNI/libroutecapjni.so ]] || skipped "the JNI library was not built"
feature() { "$1/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p'; }

# Each version once. The oldest compiles what has to run on 17.
declare -A jdks=()
for candidate in "$(dirname "$(dirname "$(realpath "$(command -v javac)")")")" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if [[ -x $candidate/bin/javac ]]; then jdks[$(feature "$candidate")]=$candidate; fi
done
mapfile -t versions < <(printf '%s\n' "${!jdks[@]}" | sort -n | awk '$1 >= 17')
[[ ${#versions[@]} -gt 0 ]] || skipped "no JDK 17 or newer is installed"
oldest=${jdks[${versions[0]}]}
newest=${versions[-1]}

rm -rf "$WORK"
mkdir -p "$WORK/binding" "$WORK/example"
sources() { find "$1" -name '*.java'; }
compile() {
  local release=$1 classes=$2 path=$3 compiler=$4
  shift 4
  "$compiler/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC --release "$release" -Xlint:all -Werror -cp "$path" -d "$classes" "$@" \
    2>"$WORK/javac" || failed "$(cat "$WORK/javac")"
}
mapfile -t files < <(sources "$binding/routecap/src/main/java")
compile 17 "$WORK/binding" "$WORK/binding" "$oldest" "${files[@]}"

# run VERSION CLASSPATH OPTION... CLASS ARGUMENT...
run() {
  local version=$1 path=$2
  shift 2
  local -a native=()
  if [[ $version -ge 22 ]]; then native=(--enable-native-access=ALL-UNNAMED); fi
  "${jdks[$version]}/bin/java" "${native[@]}" "-Djava.library.path=$JNI" -cp "$path" "$@"
}

case $part in
  gateway)
    mapfile -t files < <(sources "$binding/examples/gateway/src")
    compile 17 "$WORK/example" "$WORK/binding" "$oldest" "${files[@]}"
    # A bounded pool on 17, virtual threads on 21 and newer. All of the heap is there from the start, so that what grows is not Java's.
    for version in $(printf '%s\n' "${versions[0]}" "$newest" | sort -nu); do
      run "$version" "$WORK/binding:$WORK/example" -Xms160m -Xmx160m -XX:+AlwaysPreTouch -XX:+UseParallelGC \
        -Dgateway.requests="${ROUTECAP_GATEWAY_REQUESTS:-8}" \
        io.github.routecap.examples.gateway.GatewayCheck >"$WORK/$version" || failed "Java $version: the gateway's check failed"
      cat "$WORK/$version"
      # Engines that never end, clients that never go on. Of Java's own limits for a client the smallest are taken that a busy machine keeps to.
      run "$version" "$WORK/binding:$WORK/example" -Xmx64m -XX:+UseSerialGC -Dsun.net.httpserver.maxReqTime=2 -Dsun.net.httpserver.maxRspTime=5 \
        io.github.routecap.examples.gateway.GatewayLimits >"$WORK/$version.limits" || failed "Java $version: the gateway's limits do not hold"
      cat "$WORK/$version.limits"
      # Whatever is asked or answered wrongly, as for the gateways of the other languages.
      run "$version" "$WORK/binding:$WORK/example" -XX:+UseSerialGC io.github.routecap.examples.gateway.GatewayRefusals \
        "$ROUTECAP_SOURCE/tests/gateway/cases.json" >"$WORK/$version.refusals" || failed "Java $version: the gateway's refusals are others"
      cat "$WORK/$version.refusals"
    done
    # README's commands, on ports that are free here.
    mkdir "$WORK/readme"
    ln -s "$binding/examples/gateway/src" "$WORK/readme/src"
    ln -s "$WORK/binding" "$WORK/readme/routecap"
    ln -s "$JNI" "$WORK/readme/native"
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$binding/examples/gateway/README.md" >"$WORK/readme/commands"
    [[ $(grep -c . "$WORK/readme/commands") -eq 6 ]] || failed "README.md has other commands: $(cat "$WORK/readme/commands")"
    if command -v curl >/dev/null; then
      sed -i -E "s/127\.0\.0\.1:800([0-9])/127.0.0.1:$((2000 + $$ % 1000))\1/g" "$WORK/readme/commands"
      printf 'kill %%1 %%2 %%3\n' >>"$WORK/readme/commands"
      (cd "$WORK/readme" && bash -m commands) >"$WORK/readme/said" 2>"$WORK/readme/errors" || failed "$(cat "$WORK/readme/said" "$WORK/readme/errors")"
      # A stream of two choices of four tokens, as prime's object.
      [[ $(grep -c '^data: {"choices":.*"routed_experts":{' "$WORK/readme/said") -ge 2 && $(grep -c '^data: \[DONE\]$' "$WORK/readme/said") -eq 1 ]] ||
        failed "$(cat "$WORK/readme/said")"
    else
      printf 'without the commands of README.md: curl is not installed\n'
    fi
    threads=ThreadPoolExecutor
    if [[ $newest -ge 21 ]]; then threads=ThreadPerTaskExecutor; else printf 'without virtual threads, which JDK 21 and newer have\n'; fi
    grep -q "^Java $newest.*, $threads: " "$WORK/$newest" || failed "Java $newest does not serve with a $threads"
    ;;

  out_of_memory)
    # The library's allocations fail, and nobody else's: what is preloaded looks at who calls.
    compile 17 "$WORK/example" "$WORK/binding" "$oldest" "$binding/routecap/src/test/java/io/github/routecap/OutOfMemoryCheck.java"
    for version in $(printf '%s\n' "${versions[0]}" "$newest" | sort -nu); do
      LD_PRELOAD=$FAILING_NEW run "$version" "$WORK/binding:$WORK/example" -Xcheck:jni -XX:TieredStopAtLevel=1 io.github.routecap.OutOfMemoryCheck \
        >"$WORK/$version" 2>&1 || failed "Java $version: $(cat "$WORK/$version")"
      grep -E '^[0-9]+ failures over jni$' "$WORK/$version" || failed "$(cat "$WORK/$version")"
    done
    ;;

  *) failed "no part '$part'" ;;
esac
