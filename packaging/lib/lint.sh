# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks of the text of the tree.

# sources PATTERN...: files that git knows or would add, or all below the root where there is no git folder (a release's tarball).
sources() {
  if [[ -e .git ]]; then
    # A file may be listed and gone.
    git -c safe.directory="$root" ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
      [[ -f $file ]] && printf '%s\n' "$file"
    done
  else
    local pattern
    for pattern in "$@"; do find . -path ./build -prune -o -type f -path "./$pattern" -print; done | sed 's|^\./||' | sort -u
  fi
}

# What a generator writes has the generator's layout.
hand_written() { grep -vE '^(capi/(include|abi)|bindings/go/internal/native|bindings/java/native)/'; }

lint_format() {
  sources '*.h' '*.c' '*.cpp' '*.cu' '*.cuh' | hand_written | xargs -r clang-format --dry-run -Werror
}

# Every header of ours compiles alone: it includes what it uses. The public ones have stricter tests of their own, and one written with another
# machine's intrinsics compiles there only.
lint_headers() {
  local others='_neon\.h$'
  [[ $(uname -m) == aarch64 ]] && others='_avx[0-9]*\.h$'
  local -a flags=(-x c++ -std=c++20 -fsyntax-only -Isrc -Icapi/src -Itests -Icapi/include -Itests/plugin/fake_cudart/include
    -DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP
    # A header that is compiled by itself uses nothing of what it defines.
    -Wall -Wextra -Werror -Wno-pragma-once-outside-header -Wno-unused-const-variable -Wno-unused-function)
  sources 'src/*.h' 'capi/src/*.h' 'tests/support/*.h' | grep -vE "$others" | xargs -r -P "$jobs" -I{} clang++ "${flags[@]}" {}
}

# Reads the flags from the sanitizer build's compile commands: those are clang's own.
lint_tidy() {
  configure_preset asan
  sources 'src/*.cpp' 'capi/src/*.cpp' 'capi/examples/*.c' 'capi/examples/*.cpp' | grep -v '^capi/examples/llama\.cpp/' |
    xargs -r python3 -B packaging/lib/tidy.py build/asan "$jobs"
  # A project of its own, which needs llama.cpp's headers: the test demo.llama_cpp has fetched them.
  if [[ -e $llama_work/build/compile_commands.json ]]; then
    sources 'capi/examples/llama.cpp/*.cpp' | xargs -r python3 -B packaging/lib/tidy.py "$llama_work/build" "$jobs"
  else
    say "capi/examples/llama.cpp is left out: llama.cpp was not fetched"
  fi
}

lint_shell() {
  # A sourced file that does not parse is passed over below.
  local file
  local -a scripts
  mapfile -t scripts < <(sources 'packaging/run' 'tests/*.sh' 'tests/cuda/run' '.ci/run')
  for file in packaging/lib/*.sh "${scripts[@]}"; do bash -n "$file"; done
  shellcheck --external-sources --check-sourced --severity=style "${scripts[@]}"
}

lint_spelling() {
  sources '*' | grep -vE '^((bindings/python/)?LICENSE$|tests/wire/golden/[a-z]|tests/fuzz/corpus/)' | xargs -r codespell --quiet-level=2 --ignore-words=packaging/lib/spelling.txt
}

# Each source names its licence in its first three lines (a script's first line is taken).
lint_licence() {
  local file bad=0
  while IFS= read -r file; do
    if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
      say "no SPDX line: $file"
      bad=1
    fi
  done < <(sources '*.h' '*.c' '*.cpp' '*.cu' '*.cuh' '*.cmake' '*CMakeLists.txt' '*.sh' '*.h.in' '*.cmake.in' '*.go' '*.i' 'bindings/*.py' packaging/run tests/cuda/run .ci/run)
  # The Python package's own, since a wheel takes none from outside its folder; not a link, which archives and checkouts may lose.
  if ! cmp -s LICENSE bindings/python/LICENSE; then
    say "bindings/python/LICENSE is not LICENSE"
    bad=1
  fi
  return "$bad"
}
