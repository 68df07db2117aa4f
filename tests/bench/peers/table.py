# SPDX-License-Identifier: Apache-2.0
"""One table, one JSON file and a chart for each workload of what `measure.py` kept; alone, of files that it made: `table.py FOLDER PEERS.json...`."""

import json
import pathlib
import sys

import chart
import verdicts

SCHEMA = "routecap-peers/1"


def microseconds(value):
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def spread(row):
    """Median, and the range in which four of five calls lie."""
    return f"{microseconds(row['median_us'])} ({microseconds(row['p10_us'])} to {microseconds(row['p90_us'])})"


def grid(head, rows):
    """A Markdown table whose columns stand below each other."""
    cells = [head] + rows
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
    return "\n".join([line(head), "|" + "|".join("-" * (width + 2) for width in widths) + "|"] + [line(row) for row in rows])


def heading(report):
    workload, machine = report["workload"], report["machine"]
    shape = f"{workload['captured']} of {workload['layers']} layers, {workload['top_k']} of {workload['experts']} experts"
    made = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return "\n".join(
        [
            f"## {workload['name']} ({shape}, {workload['slots']:,} slots, {workload['source']})",
            "",
            f"{report['date']}, `{report['command']}`, {machine['cpu']}, {machine['processors']} processors, load {machine['load'][0]} at the start; {made}.",
            "us: the median of all calls and, in parentheses, the tenth and the ninetieth percentile. The ratio is that of the medians of the quietest round on",
            "either side. routecap: `host` backend, one thread, unless the column says otherwise; Python: the same through ctypes.",
            "",
        ]
    )


def stage_table(report):
    rows = []
    for line in verdicts.lines(report):
        where = " ".join(part for part in (line.slots, line.reach) if part)
        rows.append(
            [
                line.peer,
                verdicts.TITLES.get(line.stage, line.stage),
                f"{line.n}",
                f"{line.threads}",
                where,
                spread(line.theirs),
                spread(line.ours) + (f" x{line.ours['threads']}" if line.ours["threads"] > 1 else ""),
                f"{line.ratio:.1f}",
                f"{line.theirs['best_round_us'] / line.python['best_round_us']:.1f}" if line.python and line.threads == 1 else "",
                f"{line.aim:g}" if line.aim else "",
                line.verdict,
            ]
        )
    return grid(["peer", "stage", "n", "threads", "slots", "peer, us", "routecap, us", "ratio", "from Python", "aim", "verdict"], rows)


def size_table(report):
    rows = [
        [size.peer, size.what, f"{size.theirs:,}", f"{size.ours:,}", f"{size.ratio:.2f}", f"{size.aim:g}" if size.aim else "", size.verdict]
        for size in verdicts.sizes(report)
    ]
    return grid(["peer", "bytes", "peer", "routecap", "ratio", "aim", "verdict"], rows)


def text_of(reports):
    return "\n".join(f"{heading(report)}\n{stage_table(report)}\n\n{size_table(report)}\n" for report in reports)


def misses(reports):
    found = []
    for report in reports:
        found += [
            f"{line.peer} {line.stage} n={line.n} {line.slots or ''} {line.reach or ''}: {line.ratio:.2f}, aim {line.aim:g}"
            for line in verdicts.lines(report)
            if line.verdict == "MISSED"
        ]
        found += [f"{size.peer} {size.what}: {size.ratio:.2f}, aim {size.aim:g}" for size in verdicts.sizes(report) if size.verdict == "MISSED"]
    return found


def write(folder, reports):
    """peers.md, peers.json and one peers-<workload>.svg for each; returns the misses."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "peers.md").write_text(text_of(reports), encoding="utf-8")
    (folder / "peers.json").write_text(json.dumps({"schema": SCHEMA, "reports": reports}, indent=1) + "\n", encoding="utf-8")
    for report in reports:
        (folder / f"peers-{report['workload']['name']}.svg").write_text(chart.svg(report), encoding="utf-8")
    return misses(reports)


def read(name):
    kept = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
    if kept.get("schema") != SCHEMA:
        raise SystemExit(f"peers: {name} has schema {kept.get('schema')!r}, {SCHEMA} is wanted")
    return kept["reports"]


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit("usage: table.py FOLDER PEERS.json...")
    reports = [report for name in arguments[1:] for report in read(name)]
    missed = write(pathlib.Path(arguments[0]), reports)
    print(text_of(reports))
    for line in missed:
        print(f"MISSED {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
