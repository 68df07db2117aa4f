# SPDX-License-Identifier: Apache-2.0
"""Which library is used, and what is said where there is none."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import routecap

FILE = routecap.library_info().path


def test_the_library_says_what_it_is() -> None:
    info = routecap.library_info()
    assert os.path.isabs(info.path) and os.path.exists(info.path)
    assert info.origin in ("environment", "bundled", "system")
    assert info.version == routecap.version() == routecap.build_info().version
    assert info.abi_version == routecap.abi_version() == routecap.build_info().abi_version == 1
    assert re.match(r"(scalar|avx2|avx512|neon)$", routecap.build_info().simd)


def test_the_package_has_the_librarys_version() -> None:
    assert routecap.__version__ == routecap.version()


ASK = "import routecap; info = routecap.library_info(); print(info.origin, info.path)"


def test_the_environment_comes_first(run_python, tmp_path: Path) -> None:
    copy = tmp_path / "other.so"
    shutil.copy(FILE, copy)
    assert run_python(ASK, ROUTECAP_LIBRARY=str(copy)).stdout == f"environment {copy}\n"


def test_the_systems_library_comes_last(run_python, tmp_path: Path) -> None:
    package = Path(routecap.__file__).parent
    shutil.copytree(package, tmp_path / "routecap", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    folder = tmp_path / "system"
    folder.mkdir()
    shutil.copy(FILE, folder / "libroutecap.so.0")
    script = "import sys; sys.path.insert(0, sys.argv[1])\n" + ASK
    done = run_python(script, str(tmp_path), ROUTECAP_LIBRARY=None, LD_LIBRARY_PATH=str(folder))
    assert done.stdout == f"system {folder / 'libroutecap.so.0'}\n"
    bundled = tmp_path / "routecap" / "lib"
    bundled.mkdir()
    shutil.copy(FILE, bundled / "libroutecap.so.0")
    done = run_python(script, str(tmp_path), ROUTECAP_LIBRARY=None, LD_LIBRARY_PATH=str(folder))
    assert done.stdout == f"bundled {bundled / 'libroutecap.so.0'}\n"


NONE = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
import routecap
for call in (routecap.version, lambda: routecap.Record.decode("frame", b""), routecap.library_info):
    try:
        call()
    except ImportError as error:
        assert type(error) is routecap.LibraryNotFoundError
        kept = error
    else:
        print("found: " + routecap.library_info().path)
        sys.exit()
assert pickle.loads(pickle.dumps(kept)).tried == kept.tried and len(kept.tried) == 2
print(kept)
"""


def test_without_a_library_one_error_names_every_place(run_python, tmp_path: Path) -> None:
    package = Path(routecap.__file__).parent
    shutil.copytree(package, tmp_path / "routecap", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    said = run_python(NONE, str(tmp_path), ROUTECAP_LIBRARY=None, LD_LIBRARY_PATH=None).stdout
    if said.startswith("found: "):
        pytest.skip("this system has the library installed")
    bundled = tmp_path / "routecap" / "lib" / "libroutecap.so.0"
    assert said.startswith(f"libroutecap was not found; tried {bundled}: no such file; libroutecap.so.0: ")
    assert said.count("\n") == 1


def test_what_is_named_is_taken_or_nothing(run_python, tmp_path: Path) -> None:
    script = "import routecap\ntry:\n    routecap.version()\nexcept routecap.LibraryNotFoundError as error:\n    print(error)"
    text = tmp_path / "text.so"
    text.write_text("no library")
    for path, reason in (
        ("/nowhere/libroutecap.so.0", "cannot open shared object file: No such file or directory"),
        (str(text), "is no shared object: no ELF header in its 10 bytes"),
        ("libm.so.6", "is not routecap: it has no rcap_get_api"),
        ("libnowhere.so", "cannot open shared object file: No such file or directory"),
    ):
        said = run_python(script, ROUTECAP_LIBRARY=path).stdout
        assert said.startswith(f"libroutecap was not found; tried {path}: ") and reason in said
        assert "lib/libroutecap" not in said


TRY = """
import os, sys
import routecap
for path in sys.stdin.read().split():
    os.environ["ROUTECAP_LIBRARY"] = path
    try:
        routecap.version()
    except routecap.LibraryNotFoundError as error:
        assert error.tried[0][0] == path and len(error.tried) == 1
        print(error.tried[0][1])
    else:
        print("loaded")
        break
"""


def refused(run_python, paths: list[Path]) -> list[str]:
    """What is said of each of the files, by one process that lives through them all."""
    done = run_python(TRY, ROUTECAP_LIBRARY=None, given="\n".join(map(str, paths)))
    return done.stdout.splitlines()


def test_a_file_that_was_cut_short_is_refused_before_it_is_mapped(run_python, tmp_path: Path) -> None:
    """The dynamic linker would end the process with SIGBUS."""
    whole = Path(FILE).read_bytes()
    sizes = [0, 1, 4, 63, 64, 200, 4096, 5000, 65536, len(whole) // 3, len(whole) // 2, len(whole) - 4096, len(whole) - 1]
    paths = [tmp_path / f"{size}.so" for size in sizes]
    for path, size in zip(paths, sizes):
        path.write_bytes(whole[:size])
    (tmp_path / "whole.so").write_bytes(whole)
    said = refused(run_python, [*paths, tmp_path / "whole.so"])
    assert len(said) == len(sizes) + 1 and said[-1] == "loaded"
    for text, size in zip(said, sizes):
        if size < 64:
            assert text == f"is no shared object: no ELF header in its {size} bytes"
        else:
            pattern = rf"is not a whole shared object: (the program headers|the section headers|a segment) of \d+ bytes at \d+, the file has {size}"
            assert re.fullmatch(pattern, text), text


def test_what_is_for_another_machine_is_refused(run_python, tmp_path: Path) -> None:
    whole = Path(FILE).read_bytes()
    own = int.from_bytes(whole[18:20], "little")

    def changed(name: str, *changes: tuple[int, bytes]) -> Path:
        data = bytearray(whole)
        for offset, written in changes:
            data[offset : offset + len(written)] = written
        path = tmp_path / name
        path.write_bytes(data)
        return path

    fifo, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(fifo)
    link.symlink_to("nowhere")
    cases = [
        (changed("machine", (18, (own ^ 0x41).to_bytes(2, "little"))), rf"is for another architecture: ELF machine {own ^ 0x41} \(64 bit, little-endian\), this process is {own} .*"),
        (changed("class", (4, b"\1")), r"is for another architecture: ELF machine \d+ \(32 bit.*"),
        (changed("order", (5, b"\2")), r"is for another architecture: ELF machine \d+ \(64 bit, big-endian.*"),
        (changed("no class", (4, b"\7")), r"is no shared object: no ELF header in its \d+ bytes"),
        (changed("object file", (16, b"\1\0")), "is no shared object: ELF type 1, one has 3"),
        (changed("header size", (54, b"\x20\0")), r"is not a whole shared object: \d+ program headers of 32 bytes"),
        (changed("no headers", (56, b"\0\0")), "is not a whole shared object: 0 program headers of 56 bytes"),
        (changed("far headers", (32, b"\xff" * 7 + b"\x7f")), r"is not a whole shared object: the program headers of \d+ bytes at 9223372036854775807, the file has \d+"),
        (changed("far sections", (40, b"\xff" * 7 + b"\x7f")), r"is not a whole shared object: the section headers of \d+ bytes at 9223372036854775807, the file has \d+"),
        (tmp_path, "is not a file"),
        (fifo, "is not a file"),
        (link, "cannot open shared object file: No such file or directory"),
    ]
    assert whole[4:6] == b"\2\1" and all(" " not in str(path.parent) for path, _ in cases)
    paths = [path.rename(str(path).replace(" ", "-")) if " " in path.name else path for path, _ in cases]
    said = refused(run_python, paths)
    assert len(said) == len(cases)
    for text, (path, pattern) in zip(said, cases):
        assert re.fullmatch(pattern, text), (path, text)


def test_a_bundled_library_that_was_cut_short_is_passed_over(run_python, tmp_path: Path) -> None:
    package = Path(routecap.__file__).parent
    shutil.copytree(package, tmp_path / "routecap", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    whole = Path(FILE).read_bytes()
    system, bundled = tmp_path / "system", tmp_path / "routecap" / "lib"
    for folder, count in ((system, len(whole)), (bundled, len(whole) // 2)):
        folder.mkdir()
        (folder / "libroutecap.so.0").write_bytes(whole[:count])
    script = "import sys; sys.path.insert(0, sys.argv[1])\n" + ASK
    done = run_python(script, str(tmp_path), ROUTECAP_LIBRARY=None, LD_LIBRARY_PATH=str(system))
    assert done.stdout == f"system {system / 'libroutecap.so.0'}\n"
    # What the dynamic linker would find by its name is looked at too.
    (system / "libroutecap.so.0").write_bytes(whole[:9000])
    done = run_python(script, str(tmp_path), ROUTECAP_LIBRARY=None, LD_LIBRARY_PATH=str(system), check=False)
    assert done.returncode == 1 and f"libroutecap.so.0: {system / 'libroutecap.so.0'} is not a whole shared object" in done.stderr


def test_a_library_whose_name_is_not_utf8(run_python, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    copy = os.path.join(folder, b"other.so")
    shutil.copy(os.fsencode(FILE), copy)
    script = "import os, routecap; print(ascii(os.fsencode(routecap.library_info().path)))"
    assert run_python(script, ROUTECAP_LIBRARY=os.fsdecode(copy)).stdout == ascii(os.fsencode(os.path.realpath(os.fsdecode(copy)))) + "\n"


def test_importing_loads_nothing(run_python) -> None:
    script = """
import pathlib, routecap
mapped = lambda: "libroutecap" in pathlib.Path("/proc/self/maps").read_text()
assert not mapped()
routecap.version()
assert mapped()
"""
    run_python(script)


def test_rows_of_a_rank() -> None:
    """R16."""
    kind = routecap.RowsKind
    assert routecap.layout_rows(kind.LOCAL, [3, 5], 1) == (0, 5)
    assert routecap.layout_rows(kind.CONCATENATED, [3, 5], 1) == (3, 5)
    assert routecap.layout_rows(kind.CONCATENATED, [3, 5], 1, attn_tp_size=4) == (4, 5)
    assert routecap.layout_rows(kind.PADDED, [3, 5], 1, padded_tokens_per_rank=8) == (8, 5)
    assert routecap.layout_rows(kind.SHARDED, [3, 5], 1, attn_tp_size=2, attn_tp_rank=1).tokens == 2


def test_backends_are_found_and_described() -> None:
    with routecap.Backend("host") as backend:
        info = backend.describe()
        assert (info.name, info.host_memory, info.device_ordinal, info.lost) == ("host", True, 0, False)
        assert "host" in repr(backend)
        capturer = routecap.Capturer(
            routecap.Config(num_experts=4, top_k=1, layer_ids=[0], chunked_prefill_size=4, num_slots=4), backend=backend
        )
    # The capturer keeps its backend.
    capturer.add_model(routecap.Role.TARGET, "target").add_tap(0)
    capturer.seal()
    capturer.close()
    lines = routecap.Backend.search("nowhere").splitlines()
    assert len(lines) >= 1 and all("libroutecap_backend_nowhere.so" in line for line in lines)


def test_a_plan_is_what_the_capturer_needs() -> None:
    plan = routecap.Config(num_experts=300, top_k=8, layer_ids=range(3, 61), chunked_prefill_size=100, attn_tp_size=8, dp_size=2, num_slots=64).plan()
    assert plan.device_rows == 208 and plan.rows_term is routecap.RowsTerm.PREFILL
    assert plan.ids_dtype is routecap.DType.UINT16 and plan.num_layers == 58
    assert plan.slot_ids_bytes == 58 * 8 * 2
