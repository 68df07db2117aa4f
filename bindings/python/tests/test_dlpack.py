# SPDX-License-Identifier: Apache-2.0
"""Records as DLPack producers."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import routecap
from routecap import Array, DType, Record
from routecap._arrays import tensor_of
from routecap._native import ffi


def record_of(num_experts: int, weights: object = None) -> Record:
    dtype = np.uint8 if num_experts <= 256 else np.uint16 if num_experts <= 65536 else np.int32
    ids = np.arange(24).reshape(4, 2, 3).astype(dtype)
    return Record.create(ids, num_experts=num_experts, layer_ids=[0, 1], weights=weights)


@pytest.mark.parametrize("num_experts", [256, 257, 70000])
def test_numpy_takes_the_ids_where_they_lie(num_experts: int) -> None:
    with record_of(num_experts) as record:
        address = record.ids.__array_interface__["data"][0]
        array = np.from_dlpack(record)
        assert array.__array_interface__["data"][0] == address and array.dtype == record.ids.dtype
        np.testing.assert_array_equal(array, record.ids)
        assert not array.flags.writeable


def test_the_memory_is_freed_once_and_by_whoever_is_last() -> None:
    before = routecap.live_handles()
    record = record_of(256)
    arrays = [np.from_dlpack(record) for _ in range(3)]
    capsules = [record.__dlpack__(max_version=(1, 0)) for _ in range(3)]
    expected = record.ids.copy()
    record.close()
    del record
    capsules.clear()
    assert routecap.live_handles() == before + 1
    # The last one goes on another thread.
    last = arrays.pop()
    arrays.clear()
    np.testing.assert_array_equal(last, expected)
    holder = [last]
    del last
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert routecap.live_handles() == before


def test_what_a_consumer_may_ask_for() -> None:
    with record_of(256) as record:
        versioned = record.__dlpack__(max_version=(1, 3), dl_device=(1, 0), copy=False)
        old = record.__dlpack__()
        for capsule in (versioned, old):
            tensor = tensor_of(capsule)
            assert (tensor.device.device_type, tensor.ndim, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (1, 3, 1, 8, 1)
            assert int(ffi.cast("intptr_t", tensor.data)) + tensor.byte_offset == record.ids.__array_interface__["data"][0]
        assert "dltensor_versioned" in repr(versioned) and '"dltensor"' in repr(old)
        capsule = record.__dlpack__(max_version=(1, 0), copy=True)
        copied = tensor_of(capsule)
        assert int(ffi.cast("intptr_t", copied.data)) != record.ids.__array_interface__["data"][0]
        for options in ({"dl_device": (2, 0)}, {"stream": 7}):
            with pytest.raises(BufferError):
                record.__dlpack__(**options)
        assert record.__dlpack_device__() == (1, 0)


def test_the_read_only_flag() -> None:
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("numpy before 2.1 gives no versioned capsules")
    import ctypes

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    with record_of(256) as record:
        for copy, flag in ((None, 1), (True, 0)):
            capsule = record.__dlpack__(max_version=(1, 0), copy=copy)
            managed = ffi.cast("DLManagedTensorVersioned*", pointer(capsule, b"dltensor_versioned"))
            assert managed.flags & 1 == flag and managed.version.major == 1


def test_bfloat16_weights_are_bfloat16() -> None:
    bits = np.arange(24, dtype=np.uint16).reshape(4, 2, 3)
    with record_of(256, Array.of(bits, dtype=DType.BFLOAT16)) as record:
        np.testing.assert_array_equal(record.weights, bits)
        capsule = record.tensor("weights").__dlpack__(max_version=(1, 0))
        tensor = tensor_of(capsule)
        assert (tensor.dtype.code, tensor.dtype.bits) == (4, 16)
        read = Array.of(record.tensor("weights"))
        assert read.dtype is DType.BFLOAT16 and read.address == record.weights.__array_interface__["data"][0]
        with pytest.raises(ValueError, match="what is 'indices': a record has ids and weights"):
            record.tensor("indices")  # type: ignore[arg-type]
    with record_of(256) as record, pytest.raises(routecap.InvalidArgumentError, match="keeps no weights"):
        record.tensor("weights")


def test_a_newer_dlpack_and_a_taken_capsule_are_refused() -> None:
    struct = ffi.new("DLManagedTensorVersioned*")
    struct.version.major = 2
    import ctypes

    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name = b"dltensor_versioned"

    class Producer:
        def __init__(self, capsule: object) -> None:
            self.capsule = capsule

        def __dlpack__(self, **_: object) -> object:
            return self.capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    with pytest.raises(TypeError, match=r"source: the Producer gives no tensor: BufferError: DLPack 2\.0 is unknown"):
        Array.of(Producer(new(int(ffi.cast("intptr_t", struct)), name, None)))
    with record_of(256) as record:
        capsule = record.__dlpack__()
        np.from_dlpack(Producer(capsule))
        with pytest.raises(TypeError, match="taken already"):
            Array.of(Producer(capsule))
    with pytest.raises(TypeError, match="no DLPack capsule"):
        Array.of(Producer(None))
    struct.version.major = 1
    struct.dl_tensor.dtype.code, struct.dl_tensor.dtype.bits, struct.dl_tensor.dtype.lanes = 2, 64, 1
    with pytest.raises(TypeError, match="DLPack elements of code 2, 64 bits, 1 lanes"):
        Array.of(Producer(new(int(ffi.cast("intptr_t", struct)), name, None)))
