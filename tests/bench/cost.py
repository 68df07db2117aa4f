# SPDX-License-Identifier: Apache-2.0
"""Tables and charts of what bench_cost measured: the cost of one unit of work as the work grows, and where it stops being the same."""

import argparse
import datetime
import html
import json
import math
import os
import pathlib
import subprocess
import sys

# Per unit, as a reader thinks of it: (factor, unit). The unit of work is bench_cost's `units`.
CURVES = {
    "rows": ("rows of a forward", "58 layers, 8 of 256 experts, 200,000 slots in random order", 1000, "ns a row"),
    "layers": ("layers", "256 rows, 8 of 256 experts, 200,000 slots in random order", 1000, "ns a layer of 256 rows"),
    "slots": ("slots", "256 rows, 58 layers, 8 of 256 experts, random order", 1, "us a call of 256 rows"),
    "depth": ("blocks in flight", "256 rows, 58 layers", 1, "us a call of 256 rows"),
    "readers": ("readers beside finalize", "1024 rows, 58 layers, every reader reads 1024 of the same 16,384 slots again and again", 1000, "ns a row"),
    "records": ("rows of a record", "24 layers, 4 of 32 experts", 1000, "ns a row"),
}
TIME = "us"
KNEE = 1.5  # from one point to the next, where the cost of a unit should stay as it is
LINE_COLOURS = ["#1b6ca8", "#c8553d", "#2e8b57", "#8a4fa3", "#e0a458", "#555555", "#00838f"]


def series(points, curve):
    """{what: [(x, cost of one unit, unit)]}"""
    found = {}
    _, _, factor, unit = CURVES[curve]
    for point in points:
        if point["curve"] != curve:
            continue
        cost = point["value"] / point["units"]
        timed = point["unit"] == TIME
        found.setdefault(point["what"], []).append((point["x"], cost * factor if timed else cost, unit if timed else point["unit"]))
    return found


def knees(values):
    """[(x, factor)] where a unit costs so much more than at the point before."""
    return [(after[0], after[1] / before[1]) for before, after in zip(values, values[1:]) if before[1] > 0 and after[1] / before[1] >= KNEE]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shape_of(values):
    """In words: what becomes of the cost of a unit from the first point to the last."""
    found = knees(values)
    if found:
        return ", ".join(f"x{factor:.1f} at {x:,}" for x, factor in found)
    least, most = min(value for _, value, _ in values), max(value for _, value, _ in values)
    if most / max(least, 1e-9) < KNEE:
        return "the same throughout"
    return "falls" if values[-1][1] < values[0][1] else f"x{values[-1][1] / values[0][1]:.1f} over all"


def table(points, curve):
    title, shape, _, _ = CURVES[curve]
    found = series(points, curve)
    xs = sorted({x for values in found.values() for x, _, _ in values})
    head = [title, *(f"{x:,}" for x in xs), "as it grows"]
    rows = []
    for what, values in found.items():
        by_x = {x: value for x, value, _ in values}
        unit = values[0][2]
        rows.append([f"{what}, {unit}", *(number(by_x[x]) if x in by_x else "" for x in xs), shape_of(values)])
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([f"## {title[0].upper()}{title[1:]}", "", f"{shape}.", "", line(head), rule, *map(line, rows), ""])


def chart(points, curve):
    """The cost of a unit over the work, both axes logarithmic; 0 stands at the left edge."""
    title, shape, _, unit = CURVES[curve]
    found = {what: values for what, values in series(points, curve).items() if values[0][2] == unit and len(values) > 1}
    if not found:
        return None
    width, height, left, right, top, bottom = 900, 470, 80, 230, 70, 60
    log = lambda value: math.log10(max(value, 0.5))
    xs = [x for values in found.values() for x, _, _ in values]
    ys = [value for values in found.values() for _, value, _ in values]
    low_x, high_x = log(min(xs)), max(log(max(xs)), log(min(xs)) + 0.1)
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 1e-9)
    high_y = max(high_y, low_y + 1)
    at_x = lambda x: left + (log(x) - low_x) / (high_x - low_x) * (width - left - right)
    at_y = lambda y: top + (high_y - math.log10(y)) / (high_y - low_y) * (height - top - bottom)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/><text x="16" y="26" font-size="17">{html.escape(unit)} over {html.escape(title)}</text>',
        f'<text x="16" y="46" fill="#555">{html.escape(shape)}</text>',
    ]
    for power in range(low_y, high_y + 1):
        y = at_y(10.0**power)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for x in sorted(set(xs)):
        out.append(f'<text x="{at_x(x):.1f}" y="{height - bottom + 20}" text-anchor="end" transform="rotate(-35 {at_x(x):.1f} {height - bottom + 20})">{x:,}</text>')
    for (what, values), colour in zip(found.items(), LINE_COLOURS):
        path = " ".join(f"{at_x(x):.1f},{at_y(value):.1f}" for x, value, _ in values)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(value):.1f}" r="3" fill="{colour}"><title>{html.escape(what)}, {x:,}: {number(value)}</title></circle>' for x, value, _ in values]
        row = list(found).index(what)
        out.append(f'<rect x="{width - right + 16}" y="{top + row * 20}" width="12" height="12" fill="{colour}"/><text x="{width - right + 34}" y="{top + row * 20 + 10}">{html.escape(what)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "unknown")
    return f"{model}, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f} at the start"


def write(folder, points, command, where):
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    (folder / "cost.json").write_text(json.dumps({"schema": "routecap-cost/1", "date": date, "command": command, "machine": where, "points": points}, indent=1) + "\n")
    present = [curve for curve in CURVES if any(point["curve"] == curve for point in points)]
    text = [f"{date}, `{command}`, {where}. Each number is the median of the quietest of three rounds, divided by the work.", ""]
    text += [table(points, curve) for curve in present]
    (folder / "cost.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    for curve in present:
        picture = chart(points, curve)
        if picture:
            (folder / f"cost-{curve}.svg").write_text(picture, encoding="utf-8")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(prog="packaging/run bench cost --", description=__doc__)
    parser.add_argument("curves", nargs="*", help=f"of {', '.join(CURVES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="the smaller half of each")
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.curves:
        if name not in CURVES:
            parser.error(f"'{name}' is no curve; there are {', '.join(CURVES)}")
    arguments = list(options.curves) + (["--quick"] if options.quick else [])
    where = machine()
    done = subprocess.run([str(options.program), *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return done.returncode
    points = [json.loads(line) for line in done.stdout.splitlines()]
    print(write(options.folder, points, " ".join(["packaging/run bench cost", *arguments]), where))
    print(f"routecap: written: {options.folder}/cost.md, cost.json and a chart for each curve", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
