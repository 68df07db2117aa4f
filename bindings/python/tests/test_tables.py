# SPDX-License-Identifier: Apache-2.0
"""Records as tables: pandas, pyarrow, and Arrow's file format."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import routecap
from routecap import Array, DType, Record, TapFlags
from routecap._extras import optional
from routecap._tables import float_weights


def make(random: np.random.Generator, num_experts: int = 300, weights: DType = DType.FLOAT32) -> Record:
    ids = random.integers(0, num_experts, (8, 2, 3)).astype(np.uint16 if num_experts > 256 else np.uint8)
    cells = random.random((8, 2)) < 0.7
    cells[0] = True, False
    values: object = None
    if weights is DType.BFLOAT16:
        values = Array.of(random.integers(0, 0x7F80, ids.shape).astype(np.uint16), dtype=DType.BFLOAT16)
    elif weights is not DType.NONE:
        values = random.random(ids.shape).astype(np.float32 if weights is DType.FLOAT32 else np.float16)
    cells_bits = np.packbits(cells.reshape(-1), bitorder="little")
    rows = np.packbits(cells.any(axis=1), bitorder="little")
    return Record.create(
        ids, num_experts=num_experts, layer_ids=[4, 9], start=20, layer_flags=[0, TapFlags.PARTIAL], weights=values, validity=np.concatenate([rows, cells_bits])
    )


@pytest.mark.parametrize("weights", [DType.NONE, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32])
def test_an_arrow_table_and_its_file(random: np.random.Generator, weights: DType, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    ipc = pytest.importorskip("pyarrow.ipc")
    with make(random, weights=weights) as record:
        table = record.to_pyarrow()
        path = tmp_path / "record.arrow"
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
        with ipc.open_file(path) as reader:
            again = reader.read_all()
        assert again.equals(table, check_metadata=True)
        assert again.schema.field("experts").type == pa.list_(pa.uint16(), 3)
        metadata = again.schema.metadata
        assert (metadata[b"routecap.num_experts"], metadata[b"routecap.start"], metadata[b"routecap.rows"]) == (b"300", b"20", b"8")
        want, valid, lines = record.to_numpy(), record.cell_valid, again.to_pylist()
        assert len(lines) == 16
        for index, line in enumerate(lines):
            row, column = divmod(index, 2)
            assert (line["position"], line["layer"]) == (20 + row, [4, 9][column])
            assert line["experts"] == (want[row, column].tolist() if valid[row, column] else None)
            if weights is DType.NONE:
                assert "weights" not in line
            else:
                assert line["weights"] == (float_weights(record)[row, column].tolist() if valid[row, column] else None)


# Readers of Arrow and Parquet that share no code with pyarrow: polars has its own (Rust), nanoarrow its own (C), arro3 is Apache's arrow-rs.
def lines_of_polars(path: Path) -> list[dict[str, Any]]:
    polars = pytest.importorskip("polars")
    read = {".arrow": polars.read_ipc, ".arrows": polars.read_ipc_stream, ".parquet": polars.read_parquet}[path.suffix]
    lines: list[dict[str, Any]] = read(path).to_dicts()
    return lines


def lines_of_nanoarrow(path: Path) -> list[dict[str, Any]] | None:
    nanoarrow = pytest.importorskip("nanoarrow")
    if path.suffix != ".arrows":
        return None  # it reads streams
    with nanoarrow.ArrayStream.from_path(path) as stream:
        return list(stream.read_all().to_pylist())


def lines_of_arro3(path: Path) -> list[dict[str, Any]]:
    io = pytest.importorskip("arro3.io")
    read = {".arrow": io.read_ipc, ".arrows": io.read_ipc_stream, ".parquet": io.read_parquet}[path.suffix]
    lines = []
    for batch in read(str(path)):
        columns = [[value.as_py() for value in column] for column in batch.columns]
        lines += [dict(zip(batch.schema.names, values)) for values in zip(*columns)]
    return lines


@pytest.mark.parametrize("reader", [lines_of_polars, lines_of_nanoarrow, lines_of_arro3])
@pytest.mark.parametrize("suffix", [".arrow", ".arrows", ".parquet"])
@pytest.mark.parametrize("weights", [DType.NONE, DType.BFLOAT16, DType.FLOAT32])
def test_what_is_written_is_read_by_others(
    random: np.random.Generator, reader: Callable[[Path], list[dict[str, Any]] | None], suffix: str, weights: DType, tmp_path: Path
) -> None:
    """Acceptance: equal arrays in every pair."""
    ipc = pytest.importorskip("pyarrow.ipc")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / ("record" + suffix)
    with make(random, weights=weights) as record:
        table = record.to_pyarrow()
        if suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            with (ipc.new_file if suffix == ".arrow" else ipc.new_stream)(path, table.schema) as writer:
                writer.write_table(table)
        expect_lines(reader(path), record)


def expect_lines(lines: list[dict[str, Any]] | None, record: Record) -> None:
    """None of a form that the reader does not know."""
    if lines is None:
        return
    want, valid = record.to_numpy(), record.cell_valid
    assert 0 < valid.sum() < valid.size == len(lines)
    for index, line in enumerate(lines):
        row, column = divmod(index, record.num_layers)
        assert (line["position"], line["layer"]) == (record.start + row, record.layer_ids[column])
        assert (None if line["experts"] is None else list(line["experts"])) == (want[row, column].tolist() if valid[row, column] else None)
        if record.info.weights_dtype is not DType.NONE:
            given = None if line["weights"] is None else list(line["weights"])
            assert given == (float_weights(record)[row, column].tolist() if valid[row, column] else None)
        else:
            assert set(line) == {"position", "layer", "experts"}


def test_a_record_is_a_stream_of_arrow(random: np.random.Generator) -> None:
    pytest.importorskip("pyarrow")
    polars, nanoarrow = pytest.importorskip("polars"), pytest.importorskip("nanoarrow")
    with make(random) as record:
        expect_lines(polars.DataFrame(record).to_dicts(), record)
        expect_lines(list(nanoarrow.ArrayStream(record).read_all().to_pylist()), record)
        frame = polars.DataFrame(record)
    # It owns what it shows.
    assert frame.schema["experts"] == polars.Array(polars.UInt16, 3)


def test_npy_is_read_by_numpy(random: np.random.Generator, tmp_path: Path) -> None:
    with make(random, 200, DType.NONE) as record:
        path = tmp_path / "record.npy"
        path.write_bytes(record.encode("npy", routecap.EncodeOptions(missing=routecap.Missing.MINUS_ONE, dtype=DType.INT16)))
        read = np.load(path, allow_pickle=False)
        np.testing.assert_array_equal(read, record.to_numpy(dtype=np.int16, missing=-1))


def test_a_frame_of_pandas(random: np.random.Generator) -> None:
    pd = pytest.importorskip("pandas")
    with make(random) as record:
        frame = record.to_pandas()
        assert list(frame.columns) == ["expert_0", "expert_1", "expert_2", "weight_0", "weight_1", "weight_2"]
        assert frame.index.names == ["position", "layer"] and len(frame) == 16
        ids = frame[["expert_0", "expert_1", "expert_2"]].to_numpy(np.int64, na_value=-1).reshape(8, 2, 3)
        np.testing.assert_array_equal(ids, record.to_numpy())
        row, column = map(int, np.argwhere(record.cell_valid)[3])
        line = frame.loc[(20 + row, [4, 9][column])]
        assert line["weight_1"] == record.weights[row, column, 1]
        missing = frame["expert_0"].isna().to_numpy().reshape(8, 2)
        np.testing.assert_array_equal(missing, ~record.cell_valid)
        assert frame["weight_2"].isna().sum() == missing.sum() and isinstance(frame, pd.DataFrame)


def test_no_rows_are_a_table_too() -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    with Record.from_numpy(np.empty((0, 2, 3), np.uint8), num_experts=8, layer_ids=[0, 1]) as record:
        assert record.to_pyarrow().num_rows == 0 and len(record.to_pandas()) == 0


def test_bfloat16_is_widened_exactly() -> None:
    bits = np.array([[[0x3F80, 0xC020, 0x7F80, 0x0001]]], np.uint16)
    with Record.create(np.zeros((1, 1, 4), np.uint8), num_experts=8, layer_ids=[0], weights=Array.of(bits, dtype=DType.BFLOAT16)) as record:
        assert float_weights(record).tolist() == [[[1.0, -2.5, float("inf"), 2.0**-133]]]
        assert routecap.DType.BFLOAT16 is record.info.weights_dtype


@pytest.mark.parametrize(("method", "module", "extra"), [("to_pyarrow", "pyarrow", "arrow"), ("to_pandas", "pandas", "pandas"), ("to_torch", "torch", "torch")])
def test_a_package_that_lacks_is_named_with_the_extra_that_brings_it(
    random: np.random.Generator, monkeypatch: pytest.MonkeyPatch, method: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with make(random) as record, pytest.raises(ModuleNotFoundError) as lacking:
        getattr(record, method)()
    assert str(lacking.value) == f"{module} is not installed; pip install 'routecap[{extra}]' brings it"
    assert lacking.value.name == module


def test_a_lack_inside_a_package_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lacking_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="^No module named 'no_such_package'$"):
        optional("lacking_package", "arrow")
