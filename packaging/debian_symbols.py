#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes packaging/debian/libroutecap0.symbols from capi/abi/symbols.txt, or with --check says whether it is so.

A symbol's node names the release that brought it, and that is the version which a program that uses it needs: the first of that release.
"""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
file = root / "packaging/debian/libroutecap0.symbols"
symbols = sorted(line.replace("@@", "@") for line in (root / "capi/abi/symbols.txt").read_text().split())
nodes = sorted({symbol.split("@")[1] for symbol in symbols})
lines = ["libroutecap.so.0 libroutecap0 #MINVER#", "* Build-Depends-Package: libroutecap-dev"]
for symbol in [f"{node}@{node}" for node in nodes] + symbols:
    lines.append(f" {symbol} {symbol.split('@')[1].removeprefix('RCAP_')}.0~")
text = "\n".join(lines) + "\n"
if sys.argv[1:] == ["--check"]:
    if not file.exists() or file.read_text() != text:
        sys.exit(f"{file.relative_to(root)} is not what capi/abi/symbols.txt makes of it; run packaging/debian_symbols.py and commit")
    print(f"{len(symbols)} symbols")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    file.write_text(text)
