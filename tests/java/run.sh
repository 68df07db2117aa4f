#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of the Java tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' "$ROUTECAP_SOURCE/CMakeLists.txt")
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
  local path="$classes:$TREE/routecap/target/test-classes:$TREE/routecap/target/test-libs/*"
  "$java" "${options[@]}" -cp "$path" io.github.routecap.RunTests "$@" >"$WORK/log" 2>&1 || {
    tail -100 "$WORK/log" >&2
    exit 1
  }
  tail -1 "$WORK/log"
  tail -1 "$WORK/log" | grep -qE ' over [a-z]+: [0-9]+ tests, 0 failed, 0 skipped$' || failed "$(tail -20 "$WORK/log")"
}
every_test=(CaptureTest RecordTest EmptyArraysTest WireTest ErrorsTest NullArgumentsTest LifetimeTest SmallStacksTest HeapArraysTest ManifestTest ProfilerTest ReplayTest TrainerTest)
# Maven runs what is repeated in full; ROUTECAP_JAVA_SCALE=1 has every Java do so.
fewer=("-Droutecap.test.scale=${ROUTECAP_JAVA_SCALE:-10}")
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
    # The unit tests run here, through Maven, on the JDK that Maven runs on. Maven itself is over before more than C1 would pay.
    export MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}"
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
    if [[ $(feature "$newest") -lt 22 ]]; then printf 'without routecap-ffm, which JDK 22 or newer builds\n'; fi
    # No more than the runtime's own symbols leave the JNI library, and it is linked to libroutecap.
    exported=$(nm -D --defined-only "$BUILT/libroutecapjni.so" | grep -vE ' T (Java_io_github_routecap_internal_jni_|JNI_OnLoad$)') || exported=
    [[ -z $exported ]] || failed "libroutecapjni.so exports: $exported"
    readelf -d "$BUILT/libroutecapjni.so" >"$WORK/dynamic"
    grep -q 'NEEDED.*\[libroutecap\.so\.0\]' "$WORK/dynamic" || failed "$(cat "$WORK/dynamic")"
    ;;

  newest)
    # Java 24 and newer refuse native code that was not allowed.
    [[ $(feature "$newest") -ge 24 ]] ||
      skipped "every test through JNI where native code has to be allowed: no JDK of 24 or newer is installed (the newest is $(feature "$newest"))"
    run_tests "$newest" --illegal-native-access=deny --enable-native-access=ALL-UNNAMED "-Djava.library.path=$BUILT" \
      -Droutecap.api=jni "${fewer[@]}" -- "${every_test[@]}"
    grep -q ' over jni: ' "$WORK/log" || failed "not through JNI"
    ;;

  ffm)
    [[ $(feature "$newest") -ge 22 ]] ||
      skipped "every test through java.lang.foreign: no JDK of 22 or newer is installed (the newest is $(feature "$newest"))"
    classes=$TREE/routecap/target/classes:$ffm
    run_tests "$newest" --enable-native-access=ALL-UNNAMED "-Droutecap.library=$LIBRARY" "${fewer[@]}" -- "${every_test[@]}"
    grep -q ' over ffm: ' "$WORK/log" || failed "not through java.lang.foreign"
    ;;

  checkjni)
    run_tests "$jdk" -Xcheck:jni -Xmx64m -XX:+UseG1GC "-Djava.library.path=$BUILT" "${fewer[@]}" \
      -- CaptureTest RecordTest EmptyArraysTest WireTest ErrorsTest LifetimeTest SmallStacksTest HeapArraysTest ReplayTest
    if grep -E '^WARNING|^FATAL|JNI call made|pending exception' "$WORK/log" >&2; then failed "-Xcheck:jni had something to say"; fi
    ;;

  loading)
    # Where the library is looked for, and what is said where it is not found. The program prints what was loaded.
    mkdir "$WORK/classes"
    cat >"$WORK/Where.java" <<'JAVA'
import io.github.routecap.RouteCap;

public class Where {
  public static void main(String[] arguments) {
    System.out.println(RouteCap.origin());
  }
}
JAVA
    javac -cp "$api" -d "$WORK/classes" "$WORK/Where.java"
    where() { "$jdk/bin/java" -Djava.io.tmpdir="$WORK/tmp" "$@" -cp "$WORK/classes:$api:$natives" Where; }
    mkdir "$WORK/tmp"

    # 1. The property, by the JNI library or by the library itself; 2. the environment.
    [[ $(where "-Droutecap.library=$BUILT/libroutecapjni.so") == "$BUILT/libroutecapjni.so" ]] || failed "-Droutecap.library is not heard"
    [[ $(where "-Droutecap.library=$LIBRARY") == *"libroutecapjni.so over $LIBRARY" ]] || failed "-Droutecap.library=$LIBRARY is not heard"
    [[ $(ROUTECAP_LIBRARY=$BUILT/libroutecapjni.so where) == "$BUILT/libroutecapjni.so" ]] || failed "ROUTECAP_LIBRARY is not heard"
    # 3. The library path.
    [[ $(where "-Djava.library.path=$BUILT") == 'System.loadLibrary("routecapjni")' ]] || failed "java.library.path is not heard"
    # 4. The jar, into a folder that many starts share and nobody else may write to.
    rm -rf "$WORK/tmp"
    mkdir "$WORK/tmp"
    for start in 1 2 3 4 5 6 7 8; do where >"$WORK/start.$start" & done
    wait
    where >"$WORK/start.9"
    [[ $(sort -u "$WORK"/start.* | wc -l) -eq 1 && $(wc -l <"$WORK/start.1") -eq 1 ]] || failed "$(cat "$WORK"/start.*)"
    [[ $(find "$WORK/tmp" -mindepth 1 -maxdepth 1 ! -name 'hsperfdata*' | wc -l) -eq 1 ]] || failed "$(ls "$WORK/tmp")"
    folder=$(dirname "$(<"$WORK/start.1")")
    [[ $(find "$folder" -mindepth 1 | wc -l) -eq 2 && $(stat -c %a "$folder") == 700 ]] || failed "$(ls -la "$folder")"
    # A file that was damaged is written again, and what a killed process had begun goes; a folder that others may write to is not used.
    truncate -s 100 "$folder/libroutecapjni.so"
    begun=$folder/libroutecapjni.so.01234567-89ab-cdef-0123-456789abcde
    touch -d '2 hours ago' "${begun}0"
    touch "${begun}1"
    where >/dev/null
    [[ ! -e ${begun}0 && -e ${begun}1 && $(stat -c %s "$folder/libroutecapjni.so") -gt 100 ]] || failed "$(ls -la "$folder")"
    rm "${begun}1"
    chmod 777 "$folder"
    if where >"$WORK/said" 2>&1; then failed "a folder of mode 777 was loaded from"; fi
    grep -q 'is not a folder of this user alone (mode 0700)' "$WORK/said" || failed "$(cat "$WORK/said")"
    chmod 700 "$folder"
    # Another folder.
    [[ $(where "-Droutecap.tmpdir=$WORK/elsewhere") == "$WORK/elsewhere/"* ]] || failed "-Droutecap.tmpdir is not heard"

    # Nothing will do: one exception, a line for each try.
    if env -u ROUTECAP_LIBRARY "$jdk/bin/java" -cp "$WORK/classes:$api" Where >"$WORK/said" 2>&1; then failed "a library was found"; fi
    for line in 'LibraryNotFoundException: NOT_FOUND: the native library could not be loaded; tried:' \
      'System.loadLibrary("routecapjni") in ' 'the jar routecap-natives: there is none with classifier'; do
      grep -qF -- "$line" "$WORK/said" || failed "no '$line' in: $(cat "$WORK/said")"
    done
    # What is named is used or refused: nothing is taken in its place, although the jar has what would do. Each has one line.
    printf 'not a library' >"$WORK/broken.so"
    zlib=$(ldconfig -p | sed -nE 's/.*libz\.so\.1 .*x86-64.* => (.*)/\1/p' | head -1)
    named() {
      local wanted=$1
      shift
      if "$@" >"$WORK/said" 2>&1; then failed "$wanted: $(cat "$WORK/said") was taken instead"; fi
      [[ $(grep -c '^  ' "$WORK/said") -eq 1 ]] || failed "$(cat "$WORK/said")"
      grep '^  ' "$WORK/said" | grep -F -- "$wanted: " | grep -q 'nothing else is tried, since this is named$' || failed "$wanted: $(cat "$WORK/said")"
    }
    for wanted in /nonexistent/libroutecapjni.so /nonexistent relative.so "$WORK/broken.so" "$WORK"; do
      named "-Droutecap.library=$wanted" where "-Droutecap.library=$wanted"
      named "ROUTECAP_LIBRARY=$wanted" env "ROUTECAP_LIBRARY=$wanted" "$jdk/bin/java" -Djava.io.tmpdir="$WORK/tmp" -cp "$WORK/classes:$api:$natives" Where
    done
    # The property goes before the variable, whatever either is worth.
    named '-Droutecap.library=/nonexistent' env "ROUTECAP_LIBRARY=$BUILT/libroutecapjni.so" "$jdk/bin/java" -Droutecap.library=/nonexistent \
      -Djava.io.tmpdir="$WORK/tmp" -cp "$WORK/classes:$api:$natives" Where
    [[ $(ROUTECAP_LIBRARY=/nonexistent where "-Droutecap.library=$BUILT/libroutecapjni.so") == "$BUILT/libroutecapjni.so" ]] ||
      failed "ROUTECAP_LIBRARY is heard beside -Droutecap.library"
    # Another library that loads is not the one that is called.
    if [[ -n $zlib ]]; then
      if where "-Droutecap.library=$zlib" >"$WORK/said" 2>&1; then failed "$zlib: $(cat "$WORK/said") was taken instead"; fi
      grep -qF -- "-Droutecap.library=$zlib: it is no libroutecap.so.0 for the JNI library, which calls /" "$WORK/said" || failed "$(cat "$WORK/said")"
    fi
    if [[ -e $ffm && $(feature "$newest") -ge 22 ]]; then
      named '-Droutecap.library=/nonexistent' "$newest/bin/java" --enable-native-access=ALL-UNNAMED -Droutecap.library=/nonexistent \
        -Djava.io.tmpdir="$WORK/tmp" -cp "$WORK/classes:$api:$ffm:$natives" Where
    fi
    # A file that is named is looked at before the dynamic linker sees it, which ends the process at one that was cut short. Each way to call the library
    # says the same (tests/loading writes the files); a JNI library may be named, too, and needs the library beside it.
    ways=("$jdk/bin/java -Droutecap.api=jni -cp $WORK/classes:$api:$natives")
    if [[ -e $ffm && $(feature "$newest") -ge 22 ]]; then
      ways+=("$newest/bin/java --enable-native-access=ALL-UNNAMED -Droutecap.api=ffm -cp $WORK/classes:$api:$ffm:$natives")
    fi
    [[ $(wc -l <"$ROUTECAP_LOADING_CASES/cases") -ge 20 ]] || failed "$(cat "$ROUTECAP_LOADING_CASES/cases")"
    for way in "${ways[@]}"; do
      while IFS=$'\t' read -r name reason; do
        file=$ROUTECAP_LOADING_CASES/$name
        outcome=taken
        # shellcheck disable=SC2086
        ROUTECAP_LIBRARY=$file $way -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$WORK/tmp" Where >"$WORK/said" 2>&1 </dev/null || outcome=refused
        if [[ -z $reason ]]; then
          want=taken
          said=$file
        else
          want=refused
          said="ROUTECAP_LIBRARY=$file: $reason; nothing else is tried"
        fi
        if [[ $outcome != "$want" ]] || ! grep -qF -- "$said" "$WORK/said"; then failed "$way: $name: $(cat "$WORK/said")"; fi
      done <"$ROUTECAP_LOADING_CASES/cases"
    done
    mkdir "$WORK/broken"
    cp "$BUILT/libroutecapjni.so" "$WORK/broken"
    head -c 100000 "$LIBRARY" >"$WORK/broken/libroutecap.so.0"
    if where "-Droutecap.library=$WORK/broken/libroutecapjni.so" >"$WORK/said" 2>&1; then failed "half a library was loaded"; fi
    grep -qF "$WORK/broken/libroutecap.so.0, which it needs, is not a whole shared object: " "$WORK/said" || failed "$(cat "$WORK/said")"
    head -c 9000 "$BUILT/libroutecapjni.so" >"$WORK/broken/libroutecapjni.so"
    # On the library path it is one try of several: the jar has what will do.
    [[ $(where "-Djava.library.path=$WORK/broken") == "$WORK/tmp/"* ]] || failed "the jar is not taken after a broken file on the library path"
    if "$jdk/bin/java" "-Djava.library.path=$WORK/broken" -cp "$WORK/classes:$api" Where >"$WORK/said" 2>&1; then failed "half a library was loaded"; fi
    grep -qF "$WORK/broken/libroutecapjni.so is not a whole shared object: " "$WORK/said" || failed "$(cat "$WORK/said")"

    if where -Droutecap.api=carrier-pigeon >"$WORK/said" 2>&1; then failed "pigeons were used"; fi
    grep -q 'there is no such way to call the library' "$WORK/said" || failed "$(cat "$WORK/said")"

    # Nothing may be run from a file system: said by name. It needs a mount of our own.
    if unshare -m true 2>/dev/null; then
      mkdir "$WORK/noexec"
      # shellcheck disable=SC2016
      if unshare -m bash -c 'mount -t tmpfs -o noexec none "$1/noexec" && exec "$2" -Droutecap.tmpdir="$1/noexec" -cp "$3" Where' \
        - "$WORK" "$jdk/bin/java" "$WORK/classes:$api:$natives" >"$WORK/said" 2>&1; then
        failed "a library was loaded from a file system mounted noexec"
      fi
      grep -q 'the file system is mounted noexec; -Droutecap.tmpdir=FOLDER' "$WORK/said" || failed "$(cat "$WORK/said")"
    fi

    # A second class loader is refused by Java itself; the message says what to do (Java 17), and no crash follows.
    cat >"$WORK/Twice.java" <<'JAVA'
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;

public class Twice {
  public static void main(String[] jars) throws Exception {
    for (int loader = 0; loader < 2; loader++) {
      URL[] urls = {new File(jars[0]).toURI().toURL(), new File(jars[1]).toURI().toURL()};
      try {
        System.out.println(new URLClassLoader(urls, null).loadClass("io.github.routecap.RouteCap").getMethod("version").invoke(null));
      } catch (java.lang.reflect.InvocationTargetException e) {
        System.out.println(e.getCause().getMessage());
      }
    }
  }
}
JAVA
    javac -d "$WORK/classes" "$WORK/Twice.java"
    "$jdk/bin/java" -Djava.io.tmpdir="$WORK/tmp" -cp "$WORK/classes" Twice "$api" "$natives" >"$WORK/said"
    [[ $(head -1 "$WORK/said") == "$version" ]] || failed "$(cat "$WORK/said")"
    grep -q 'a process has one class loader for it' "$WORK/said" || failed "$(cat "$WORK/said")"
    ;;

  installed)
    # README's commands for a library that is installed: the JNI library, with what a user has.
    export PKG_CONFIG_PATH=$STAGE/$LIBDIR/pkgconfig JAVA_HOME=$jdk
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROUTECAP_SOURCE/bindings/java/README.md" |
      sed -n '/^mkdir -p built$/,/^cp -L /p' >"$WORK/commands"
    [[ $(wc -l <"$WORK/commands") -eq 4 ]] || failed "README.md has other commands: $(cat "$WORK/commands")"
    ln -s "$ROUTECAP_SOURCE/bindings/java/native" "$WORK/native"
    (cd "$WORK" && bash -eu commands) >"$WORK/log" 2>&1 || failed "$(cat "$WORK/log")"
    mkdir "$WORK/classes"
    cat >"$WORK/Which.java" <<'JAVA'
import io.github.routecap.RouteCap;

public class Which {
  public static void main(String[] arguments) {
    System.out.println(RouteCap.version() + " " + RouteCap.origin());
  }
}
JAVA
    javac -cp "$api" -d "$WORK/classes" "$WORK/Which.java"
    # Both alone in the folder, so that the one is found beside the other.
    [[ $("$jdk/bin/java" -cp "$WORK/classes:$api" "-Djava.library.path=$WORK/built" Which) == "$version System.loadLibrary(\"routecapjni\")" ]] ||
      failed "the JNI library does not work"
    ;;

  starts)
    # A thousand starts leave no more than one does (ROUTECAP_JAVA_STARTS=1000): of each version one folder with its two files. The other version is the
    # same library and a byte.
    starts=${ROUTECAP_JAVA_STARTS:-24}
    mkdir -p "$WORK/classes" "$WORK/tmp" "$WORK/other"
    cat >"$WORK/Where.java" <<'JAVA'
public class Where {
  public static void main(String[] arguments) {
    System.out.println(io.github.routecap.RouteCap.origin());
  }
}
JAVA
    javac -cp "$api" -d "$WORK/classes" "$WORK/Where.java"
    (cd "$WORK/other" && "$jdk/bin/jar" xf "$natives" && find . -name libroutecap.so.0 -exec sh -c 'printf x >>"$1"' - {} \;)
    "$jdk/bin/jar" cfm "$WORK/other.jar" "$WORK/other/META-INF/MANIFEST.MF" -C "$WORK/other" .
    start() {
      "$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Djava.io.tmpdir="$WORK/tmp" -cp "$WORK/classes:$api:$2" Where \
        >>"$WORK/said.$1" 2>&1 || echo "start $1 failed" >>"$WORK/said.$1"
    }
    # Several at once, the first of which find nothing there.
    for ((first = 0; first < starts; first += 8)); do
      for ((one = first; one < first + 8 && one < starts; one++)); do
        if ((one % 2)); then start "$one" "$natives" & else start "$one" "$WORK/other.jar" & fi
      done
      wait
    done
    [[ $(cat "$WORK"/said.* | wc -l) -eq $starts ]] || failed "$(cat "$WORK"/said.*)"
    [[ $(sort -u "$WORK"/said.* | wc -l) -eq 2 ]] || failed "$(sort -u "$WORK"/said.*)"
    [[ $(find "$WORK/tmp" -mindepth 1 -maxdepth 1 -type d -name 'routecap-*' | wc -l) -eq 2 ]] || failed "$(ls -la "$WORK/tmp")"
    [[ $(find "$WORK/tmp" -mindepth 1 | wc -l) -eq 6 ]] || failed "$(find "$WORK/tmp")"
    while read -r origin; do [[ -s $origin ]] || failed "$origin is gone"; done < <(sort -u "$WORK"/said.*)
    printf '%s starts of two versions left two folders with two files each\n' "$starts"
    ;;

  modules)
    # On the module path, all jars there; as one fat jar; and on a Java that wants native code allowed.
    mkdir "$WORK/classes" "$WORK/fat" "$WORK/tmp"
    cat >"$WORK/How.java" <<'JAVA'
import io.github.routecap.RouteCap;

public class How {
  public static void main(String[] arguments) {
    System.out.println(RouteCap.api() + " " + RouteCap.class.getModule());
  }
}
JAVA
    javac -cp "$api" -d "$WORK/classes" "$WORK/How.java"
    jars=$api:$natives
    if [[ -e $ffm ]]; then jars=$jars:$ffm; fi
    modules=(-p "$jars" --add-modules io.github.routecap -cp "$WORK/classes")
    how() {
      local java=$1/bin/java
      shift
      "$java" -Djava.io.tmpdir="$WORK/tmp" "$@" How
    }
    [[ $(how "$jdk" "${modules[@]}") == "jni module io.github.routecap" ]] || failed "the module path does not work"
    (cd "$WORK/fat" && for jar in ${jars//:/ }; do "$jdk/bin/jar" xf "$jar"; done && rm -f module-info.class)
    "$jdk/bin/jar" cf "$WORK/fat.jar" -C "$WORK/fat" .
    [[ $(how "$jdk" -cp "$WORK/classes:$WORK/fat.jar") == jni* ]] || failed "a fat jar does not work"
    [[ -e $ffm && $(feature "$newest") -ge 24 ]] ||
      skipped "java.lang.foreign on the module path and in a fat jar, and native code that was not allowed (JNI passed): no JDK of 24 or newer is installed (the newest is $(feature "$newest"))"
    allowed=io.github.routecap,io.github.routecap.ffm
    [[ $(how "$newest" --illegal-native-access=deny --enable-native-access=$allowed "${modules[@]}") == ffm* ]] ||
      failed "ffm is not chosen on the module path"
    [[ $(how "$newest" --illegal-native-access=deny --enable-native-access=ALL-UNNAMED -cp "$WORK/classes:$WORK/fat.jar") == ffm* ]] ||
      failed "ffm is not chosen in a fat jar"
    if how "$newest" --illegal-native-access=deny "${modules[@]}" >"$WORK/said" 2>&1; then
      failed "native code was called and not allowed"
    fi
    grep -q -- '--enable-native-access=io.github.routecap' "$WORK/said" || failed "$(cat "$WORK/said")"
    ;;

  javadoc)
    "$jdk/bin/javadoc" -quiet --release 17 -Xdoclint:all -Werror -d "$WORK/html" --module io.github.routecap \
      --module-source-path "io.github.routecap=$ROUTECAP_SOURCE/bindings/java/routecap/src/main/java" >"$WORK/log" 2>&1 || failed "$(cat "$WORK/log")"
    [[ -s $WORK/html/io.github.routecap/io/github/routecap/Capturer.html ]] || failed "no page was written"
    if [[ -e $WORK/html/io.github.routecap/io/github/routecap/internal/Span.html ]]; then failed "what is internal has pages"; fi
    ;;

  serving)
    "$jdk/bin/java" -Djava.io.tmpdir="$WORK" -cp "$examples:$api:$natives" io.github.routecap.examples.Serving "$WORK/request.frame" >"$WORK/routed"
    [[ $(wc -l <"$WORK/routed") -eq 33 ]] || failed "the example printed $(wc -l <"$WORK/routed") lines"
    [[ -x $PRINT_FRAME ]] || skipped "print_frame was not built"
    "$PRINT_FRAME" "$WORK/request.frame" >"$WORK/recorded"
    diff "$WORK/routed" "$WORK/recorded" || failed "C reads other rows than the router chose"
    if [[ -x $COMMAND ]]; then
      # The command reads the same ids, through another form.
      "$COMMAND" convert "$WORK/request.frame" --to lists -o "$WORK/request.json"
      sed -E 's/.*\[(.*)\]$/\1/' "$WORK/routed" | tr ' ' '\n' >"$WORK/ids.routed"
      tr -c '0-9' '\n' <"$WORK/request.json" | grep . >"$WORK/ids.command"
      diff "$WORK/ids.routed" "$WORK/ids.command" || failed "the command reads other ids than the router chose"
    fi
    ;;

  quickstart)
    "$jdk/bin/java" -Djava.io.tmpdir="$WORK" -cp "$examples:$api:$natives" io.github.routecap.examples.Quickstart >"$WORK/printed"
    # README's block of output is the C sample's too.
    awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROUTECAP_SOURCE/README.md" >"$WORK/promised"
    [[ -s $WORK/promised ]] || failed "README.md has no block of output"
    diff "$WORK/promised" "$WORK/printed"
    ;;

  bench)
    # Each once, to see that they run. Times are for the command in bindings/java/README.md.
    "$jdk/bin/java" "-Djava.library.path=$BUILT" -cp "$TREE/benchmark/target/classes:$api:$TREE/benchmark/target/libs/*" \
      org.openjdk.jmh.Main -f 0 -wi 1 -i 1 -w 50ms -r 100ms >"$WORK/log" 2>&1 || failed "$(tail -40 "$WORK/log")"
    for name in abiVersion captureDenied captureDirect captureHeap forward readInto; do
      grep -qE "^CallBenchmark\.$name +avgt +[0-9.]+ +ns/op" "$WORK/log" || failed "$name did not run: $(tail -20 "$WORK/log")"
    done
    ;;

  *) failed "no part '$part'" ;;
esac
