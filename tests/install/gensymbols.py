#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What dpkg-gensymbols -c4, which the Debian package's build runs, says of the package's list of symbols.

  gensymbols.py DPKG_GENSYMBOLS DEBIAN VERSION LIBRARY NEXT WORK      NEXT is the library with one function more

The list is what the library exports; a function that was added and forgotten in the list, or listed and gone, ends the build.
"""

import pathlib
import shutil
import subprocess
import sys

gensymbols, debian, version, library, following, work = sys.argv[1:]
debian, library, following, work = map(pathlib.Path, (debian, library, following, work))
failures = 0


def ask(name, file, symbols):
    """A package's build folder as dh_makeshlibs finds it."""
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "debian").mkdir(parents=True)
    place = folder / "debian/libroutecap0/usr/lib"
    place.mkdir(parents=True)
    shutil.copyfile(file, place / "libroutecap.so.0")
    for part in ("control", "changelog"):
        shutil.copyfile(debian / part, folder / "debian" / part)
    (folder / "symbols").write_text(symbols)
    result = subprocess.run([gensymbols, "-plibroutecap0", f"-v{version}", "-Isymbols", "-Pdebian/libroutecap0", "-c4"], cwd=folder, check=False,
                            capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def expect(name, file, symbols, wanted):
    global failures
    status, said = ask(name, file, symbols)
    if (status == 0) != (wanted is None) or (wanted and wanted not in said):
        failures += 1
        print(f"FAILED {name}: exit {status}, expected {wanted or 'success'}\n{said}")
    else:
        print(f"ok     {name}")


listed = (debian / "libroutecap0.symbols").read_text()
expect("as it is", library, listed, None)
expect("a function that is not listed", following, listed, "\n+ rcap_next_number@")
some = next(line for line in listed.splitlines() if line.startswith(" rcap_record_merge@"))
expect("one that was forgotten", library, listed.replace(some + "\n", ""), f"\n+{some.rsplit(' ', 1)[0]}")
expect("one that is gone", library, listed + some.replace("merge", "merge_all") + "\n", "rcap_record_merge_all@")
sys.exit(1 if failures else 0)
