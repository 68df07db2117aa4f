# SPDX-License-Identifier: Apache-2.0
"""Measures one subject on one workload: lines of JSON on stdout. `measure.py` runs it."""

import argparse
import importlib
import json
import platform
import sys

import timing
import workloads

MODULES = {"sglang": "sglang_peer", "vllm": "vllm_peer", "routecap-python": "routecap_python"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("subject", choices=MODULES)
    arguments.add_argument("--data", required=True, help="folder that workloads.write made")
    arguments.add_argument("--from", dest="origin", required=True, nargs="+", help="the unpacked wheel; for routecap its library and api.json")
    arguments.add_argument("--n", type=lambda text: [int(part) for part in text.split(",")], required=True)
    arguments.add_argument("--threads", type=lambda text: [int(part) for part in text.split(",")], default=[1])
    arguments.add_argument("--rounds", type=int, default=8)
    arguments.add_argument("--scale", type=float, default=1.0)
    options = arguments.parse_args()

    module = importlib.import_module(MODULES[options.subject])
    origin = options.origin[0] if len(options.origin) == 1 else options.origin
    subject = module.Subject(origin, workloads.load(options.data), options.n)
    subject.set_threads(max(options.threads))
    say = lambda line: print(json.dumps({"peer": module.NAME, **line}), flush=True)
    say({"fact": "info", "info": {**subject.info(), "python": platform.python_version()}})
    for fact in subject.facts():
        say(fact)
    for n in options.n:
        stages = subject.stages(n)
        if hasattr(subject, "wire"):
            say(subject.wire)
        for threads in options.threads:
            subject.set_threads(threads)
            for stage in stages:
                stage.samples, stage.best_round = [], float("inf")
            timing.measure(stages, n, options.rounds, options.scale)
            for stage in stages:
                print(json.dumps(timing.row(module.NAME, stage, n, threads)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
