# SPDX-License-Identifier: Apache-2.0
"""What the scripts here need of C libraries, without the library under test: XXH3 and Zstandard, through ctypes."""

import ctypes
import ctypes.util
import sys


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def _library(name):
    found = ctypes.util.find_library(name)
    if found is None:
        skip("lib" + name + " is not there")
    return ctypes.CDLL(found)


def xxh3_64(data):
    library = _library("xxhash")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(bytes(data), len(data))


def zstd_decompress(data, size):
    library = _library("zstd")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size)
    got = library.ZSTD_decompress(out, size, bytes(data), len(data))
    if got != size:
        raise ValueError("Zstandard: %d bytes instead of %d" % (got, size))
    return out.raw
