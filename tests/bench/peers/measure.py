# SPDX-License-Identifier: Apache-2.0
"""Runs every subject on every workload, one after the other, and makes a table, a file of JSON and charts of what they say.

The C program comes first: it writes what it read back, and every peer compares that with its own rows before anything of it is timed.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys

import table
import workloads

HERE = pathlib.Path(__file__).resolve().parent
NO_BACKEND = 77


def say(text):
    print(f"routecap: {text}", file=sys.stderr, flush=True)


def lines_of(command, environment, allowed=()):
    done = subprocess.run([str(part) for part in command], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode in allowed:
        return None
    if done.returncode != 0:
        raise SystemExit(f"peers: {pathlib.Path(command[0]).name} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "unknown")
    return {"cpu": model, "processors": len(os.sched_getaffinity(0)), "load": [round(load, 2) for load in os.getloadavg()]}


class Run:
    def __init__(self, options, environment):
        self.options, self.environment = options, environment
        self.batches = ",".join(str(n) for n in options.n)

    def c_program(self, data, threads, backend=None):
        workload = data.workload
        command = [self.options.program, "--layers", workload.captured, "--top-k", workload.top_k, "--experts", workload.experts]
        command += ["--slots", workload.slots, "--rows", workloads.ROWS, "--n", self.batches, "--ids", data.ids_file, "--order", data.order_file]
        command += ["--check", data.check_folder, "--rounds", self.options.rounds, "--scale", self.options.scale]
        if backend:
            command += ["--backend", backend, "--threads", threads]
        return lines_of(command, self.environment, allowed=(NO_BACKEND,))

    def subject(self, name, data, origin, threads):
        command = [sys.executable, HERE / "subject.py", name, "--data", data.folder, "--from", *origin, "--n", self.batches]
        command += ["--threads", ",".join(str(count) for count in threads), "--rounds", self.options.rounds, "--scale", self.options.scale]
        return lines_of(command, self.environment)

    def workload(self, data):
        options = self.options
        lines = []
        # One thread of ours is what the host backend has, and what every line can be held against.
        for threads in sorted({1, *options.threads}):
            backend = None if threads == 1 else "tbb"
            say(f"{data.workload.name}: routecap in C, {threads} thread{'s' if threads > 1 else ''}{' (tbb)' if backend else ''}")
            measured = self.c_program(data, threads, backend)
            if measured is None:
                say("no tbb backend here: routecap's column of more threads is left out")
                continue
            lines += measured
        for name in options.subjects:
            origin = {
                "sglang": [options.peers / "sglang"],
                "vllm": [options.peers / "vllm"],
                "routecap-python": [options.library, options.description],
            }[name]
            say(f"{data.workload.name}: {name}")
            lines += self.subject(name, data, origin, options.threads if name != "routecap-python" else [1])
        return lines


def split(convert):
    return lambda text: [convert(part) for part in text.split(",")]


def parsed(arguments, root):
    known = workloads.known(root)
    parser = argparse.ArgumentParser(prog="packaging/run bench peers --", description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", type=split(str), default=list(known), help=f"of {', '.join(known)} (default: all)")
    parser.add_argument("--n", type=split(int), default=list(workloads.BATCHES), help="batch sizes (default: 1,64,256,8192)")
    parser.add_argument("--threads", type=split(int), default=[1, 2], help="of the peers' torch and of routecap's tbb backend (default: 1,2)")
    parser.add_argument("--subjects", type=split(str), default=["sglang", "vllm", "routecap-python"], help="beside routecap in C (default: all)")
    parser.add_argument("--rounds", type=int, default=8, help="passes over all stages (default: 8)")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the repetitions (default: 1)")
    parser.add_argument("--peers", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--library", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--description", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for name in options.workloads:
        if name not in known:
            parser.error(f"no workload {name} here; there are {', '.join(known)}")
    for name in options.subjects:
        if name not in ("sglang", "vllm", "routecap-python"):
            parser.error(f"no subject {name}; there are sglang, vllm and routecap-python")
    for n in options.n:
        if not 1 <= n <= workloads.ROWS:
            parser.error(f"--n names {n}, allowed are 1 to {workloads.ROWS}")
    most_threads = max(2, len(os.sched_getaffinity(0)))
    for threads in options.threads:
        if not 1 <= threads <= most_threads:
            parser.error(f"--threads names {threads}, allowed are 1 to {most_threads} here")
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}, at least 1 is needed")
    if not 0 < options.scale < math.inf:
        parser.error(f"--scale is {options.scale}, a number above 0 is needed")
    if not (options.peers / "vllm").is_dir() and "vllm" in options.subjects:
        say("vLLM's wheel is not there: its columns are left out")
        options.subjects.remove("vllm")
    return options, known


def main():
    root = HERE.parents[2]
    options, known = parsed(sys.argv[1:], root)
    # Settings for old builds of OpenBLAS that a machine may have; they slow down a new one.
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    environment["LD_LIBRARY_PATH"] = str(options.peers / "gpu-libraries")
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    versions = json.loads((options.peers / "versions.json").read_text())
    run = Run(options, environment)
    reports = []
    for name in options.workloads:
        data = workloads.write(known[name], options.peers / "data" / name, root)
        before = machine()
        lines = run.workload(data)
        reports.append(
            {
                "unit": "us",
                "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "command": "packaging/run bench peers" + "".join(" " + part for part in shown(sys.argv[1:])),
                "machine": before,
                "versions": versions,
                "workload": {**vars(data.workload)},
                "info": {line["peer"]: line["info"] for line in lines if line.get("fact") == "info"},
                "memory": {line.get("peer", "routecap-c"): line["bytes_per_slot"] for line in lines if line.get("fact") == "memory"},
                "wire": [{"peer": line.get("peer", "routecap-c"), "n": line["n"], "bytes": line["bytes"]} for line in lines if line.get("fact") == "wire"],
                "rows": [line for line in lines if "stage" in line],
            }
        )
        # After each of them, so that an interrupted run has told what it knows.
        missed = table.write(options.results, reports)
    print(table.text_of(reports))
    for line in missed:
        print(f"MISSED {line}")
    say(f"written: {options.results}/peers.md, peers.json and a chart for each workload")
    return 0


def shown(arguments):
    """Without what the script adds."""
    hidden = ("--peers", "--results", "--program", "--library", "--description")
    kept = []
    for i, part in enumerate(arguments):
        if part in hidden or (i > 0 and arguments[i - 1] in hidden):
            continue
        kept.append(part)
    return kept


if __name__ == "__main__":
    sys.exit(main())
