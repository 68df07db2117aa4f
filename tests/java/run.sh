#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of the Java tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
version=0.1.0
failed() {
  printf '%s\n' "$*" >&2
  exit 1
}
skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}

[[ -x ${MAVEN:-} ]] || skipped "Maven is not installed"
command -v javac >/dev/null || skipped "no JDK is installed (17 or newer)"
[[ -e $BUILT/libroutecapjni.so ]] || skipped "the JNI library was not built: no JDK was found when the project was configured"
jdk=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
feature() { "$1/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p'; }
[[ $(feature "$jdk") -ge 17 ]] || skipped "JDK 17 or newer is not installed ($jdk is $(feature "$jdk"))"

# The newest JDK of this machine, for what needs 22 or newer.
newest=$jdk
for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if [[ -x $candidate/bin/javac && $(feature "$candidate") -gt $(feature "$newest") ]]; then newest=$candidate; fi
done

rm -rf "$WORK"
mkdir -p "$WORK"
api=$TREE/routecap/target/routecap-$version.jar
natives=$TREE/routecap-natives/target/routecap-natives-$version-linux-$(uname -m).jar
ffm=$TREE/routecap-ffm/target/routecap-ffm-$version.jar
examples=$TREE/examples/target/classes
export ROUTECAP_SOURCE

# run_tests JDK JAVA_OPTION... -- CLASS...: the test classes in a process of their own; nothing may fail or be skipped.
run_tests() {
  local java=$1/bin/java
  shift
  local -a options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  "$java" "${options[@]}" -cp "$classes:$TREE/routecap/target/test-classes:$TREE/routecap/target/test-libs/*" io.github.routecap.RunTests "$@" \
    >"$WORK/log" 2>&1 || {
    tail -100 "$WORK/log" >&2
    exit 1
  }
  tail -1 "$WORK/log"
  tail -1 "$WORK/log" | grep -qE ' over [a-z]+: [0-9]+ tests, 0 failed, 0 skipped$' || failed "$(tail -20 "$WORK/log")"
}
every_test=(CaptureTest RecordTest WireTest ErrorsTest LifetimeTest HeapArraysTest ManifestTest ProfilerTest ReplayTest)
classes=$TREE/routecap/target/classes

[[ $part == build || -e $api ]] || skipped "the binding could not be built"

case $part in
  build)
    # In a copy, so that nothing is written to the source tree. What Maven fetches stays in its own repository: a second run needs no network.
    mkdir -p "$TREE"
    rm -rf "$TREE"
    cp -r "$ROUTECAP_SOURCE/bindings/java" "$TREE"
    find "$TREE" -name target -type d -prune -exec rm -rf {} +
    options=(-q -B "-Droutecap.built=$BUILT" "-Droutecap.platform=linux-$(uname -m)" -Droutecap.benchmark=yes)
    if [[ $(feature "$newest") -ge 22 ]]; then options+=("-Droutecap.jdk22=$newest"); fi
    cd "$TREE"
    # The unit tests run here, through Maven, on the JDK that Maven runs on.
    "$MAVEN" -o "${options[@]}" package >"$WORK/log" 2>&1 || {
      if grep -qE 'offline mode|has not been downloaded' "$WORK/log"; then
        "$MAVEN" "${options[@]}" package >"$WORK/log" 2>&1 || {
          if grep -qE 'Could not transfer|Unknown host|Connection refused' "$WORK/log"; then skipped "Maven could not fetch what it builds with"; fi
          failed "$(tail -80 "$WORK/log")"
        }
      else
        failed "$(tail -80 "$WORK/log")"
      fi
    }
    tests=0
    for report in "$TREE"/*/target/surefire-reports/TEST-*.xml; do
      line=$(grep -m1 '<testsuite ' "$report")
      [[ $line == *'failures="0"'* && $line == *'errors="0"'* && $line == *'skipped="0"'* ]] || failed "$line"
      tests=$((tests + $(sed -nE 's/.* tests="([0-9]+)".*/\1/p' <<<"$line")))
    done
    [[ $tests -ge 40 ]] || failed "only $tests tests ran"
    printf '%s tests through Maven on Java %s\n' "$tests" "$(feature "$jdk")"
    # No more than the runtime's own symbols leave the JNI library, and it is linked to libroutecap.
    exported=$(nm -D --defined-only "$BUILT/libroutecapjni.so" | grep -vE ' T (Java_io_github_routecap_internal_jni_|JNI_OnLoad$)') || exported=
    [[ -z $exported ]] || failed "libroutecapjni.so exports: $exported"
    readelf -d "$BUILT/libroutecapjni.so" >"$WORK/dynamic"
    grep -q 'NEEDED.*\[libroutecap\.so\.0\]' "$WORK/dynamic" || failed "$(cat "$WORK/dynamic")"
    ;;

  newest)
    # Java 24 and newer refuse native code that was not allowed.
    [[ $(feature "$newest") -ge 24 ]] || skipped "no JDK of 24 or newer is installed (the newest is $(feature "$newest"))"
    run_tests "$newest" --illegal-native-access=deny --enable-native-access=ALL-UNNAMED "-Djava.library.path=$BUILT" -Droutecap.api=jni -- "${every_test[@]}"
    grep -q ' over jni: ' "$WORK/log" || failed "not through JNI"
    ;;

  ffm)
    [[ $(feature "$newest") -ge 22 ]] || skipped "no JDK of 22 or newer is installed (the newest is $(feature "$newest"))"
    classes=$TREE/routecap/target/classes:$ffm
    run_tests "$newest" --enable-native-access=ALL-UNNAMED "-Droutecap.library=$LIBRARY" -- "${every_test[@]}"
    grep -q ' over ffm: ' "$WORK/log" || failed "not through java.lang.foreign"
    ;;

  checkjni)
    run_tests "$jdk" -Xcheck:jni -Xmx64m -XX:+UseG1GC "-Djava.library.path=$BUILT" -Droutecap.test.scale=10 -- CaptureTest RecordTest WireTest ErrorsTest \
      LifetimeTest HeapArraysTest ReplayTest
    if grep -E '^WARNING|^FATAL|JNI call made|pending exception' "$WORK/log" >&2; then failed "-Xcheck:jni had something to say"; fi
    ;;

  *) failed "no part '$part'" ;;
esac
