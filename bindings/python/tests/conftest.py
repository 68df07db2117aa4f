# SPDX-License-Identifier: Apache-2.0
"""What the tests share: no handle is left behind, and a capturer with an oracle of what each slot holds."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import routecap
from scene import Scene


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    gc.collect()
    # What is alive now is not gone through again: all of numpy's, pandas' and others' modules, twice for every test, took most of the tests' time.
    gc.freeze()
    before = routecap.live_handles()
    yield
    gc.collect()
    assert routecap.live_handles() == before


@pytest.fixture
def scene() -> Iterator[Scene]:
    with Scene() as made:
        yield made


@pytest.fixture
def project() -> Path:
    """The whole project's folder, which a package that was fetched does not have."""
    root = Path(os.environ.get("ROUTECAP_SOURCE") or Path(__file__).parents[3])
    if not (root / "capi" / "abi" / "api.json").exists():
        assert "ROUTECAP_SOURCE" not in os.environ, f"{root} is not the project"
        pytest.skip("the project's own files are not here")
    return root


@pytest.fixture
def run_python():
    """Runs a script in a Python of its own, in development mode with every warning an error; gives what it printed."""

    def run(script: str, *arguments: str, check: bool = True, given: str = "", **environment: str | None) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, **{name: value for name, value in environment.items() if value is not None}}
        for name, value in environment.items():
            if value is None:
                variables.pop(name, None)
        variables["PYTHONPATH"] = os.pathsep.join([*(path for path in sys.path if path), str(Path(__file__).parent)])
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", script, *arguments],
            env=variables,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
        )
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20261130)
