"""Holds every figure of a run's report against DuckDB queries over its Parquet.

    check.py SCHEMA RUN...

SCHEMA is the report's JSON schema (rung schema --report), RUN a run's folder with a report
in it. Every number and every truth value of the report must be one that a check here gives
too, or be declared: then it is held against the manifest. One that is in neither fails, as
does one that a check gives and the report has not. Of the schema's figures, those that no
run shows are listed here with the reason. Exit status 1 and a line each where one differs.
"""

import json
import math
import re
import sys

import curve
import declared
import diagnosis
import ends
import machine
import memory
import rungs
import settings
from run import Run
from spans import Either, Says

# Relative tolerance of floating-point figures: sums are added up in another order.
TOLERANCE = 1e-9

# Where more is allowed, and why.
LOOSER = {
}

# Figures of the schema that no run here shows, and why.
NOT_SHOWN = {
}


def leaves(node, path=""):
    """Every value of a JSON document with its path."""
    if isinstance(node, Says) or not isinstance(node, (dict, list)):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    else:
        for i, value in enumerate(node):
            yield from leaves(value, f"{path}[{i}]")


def pattern(path):
    return re.sub(r"\[\d+\]", "[*]", path)


def is_figure(value):
    return isinstance(value, (int, float))  # truth values too


def agree(path, got, want):
    """Whether a figure of the report is the one that was found here."""
    if isinstance(want, Says):
        found = re.findall(r"0x[0-9a-f]+|(?<![A-Za-z\d])\d+(?:\.\d+)?(?:e[-+]\d+)?", got)
        return len(found) == len(want) and all(shown(text, figure) for text, figure in zip(found, want))
    if isinstance(want, Either):
        return any(agree(path, got, w) for w in want)
    if isinstance(want, (bool, str)) or isinstance(got, (bool, str)):
        return got == want
    tolerance = LOOSER.get(pattern(path), (TOLERANCE,))[0]
    return math.isclose(got, want, rel_tol=tolerance, abs_tol=1e-12)


def shown(text, figure):
    """Whether text is figure, rounded to the digits that text has."""
    if text.startswith("0x"):
        return int(text, 16) == figure
    mantissa, _, exponent = text.partition("e")
    digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(text) - figure) <= 0.5000001 * digit


def check(run, report):
    """Holds one report against the checks; gives what differs and, of each pattern, by what it was checked."""
    expected, group, wrong, seen = {}, {}, [], {}
    for name, part in CHECKS:
        for path, value in leaves(part(run)):
            expected[path], group[path] = value, name
    for path, got in leaves(report):
        known = path in expected
        if known:
            if not (got is None and expected[path] is None) and not agree(path, got, expected[path]):
                wrong.append(f"{path}: the report has {got!r}, and {group[path]} by DuckDB gives {expected[path]!r}")
        elif is_figure(got):
            declaration = declared.of(pattern(path))
            if declaration is None:
                wrong.append(f"{path}: {got!r} is in no check and not declared")
                continue
            if not declaration.holds(run, path, got):
                wrong.append(f"{path}: the report has {got!r}, and {declaration.says}")
        if known or is_figure(got):
            seen.setdefault(pattern(path), []).append(group.get(path, "declared"))
    have = dict(leaves(report))
    for path, want in expected.items():
        if want and path not in have:  # what is 0 or false may be left out
            wrong.append(f"{path}: {group[path]} by DuckDB gives {want!r}, and the report has nothing")
    return wrong, seen


def schema_figures(schema):
    """The patterns of all numbers and truth values that a report may have."""

    def walk(node, path):
        if "$ref" in node:
            yield from walk(schema["$defs"][node["$ref"].rpartition("/")[2]], path)
        for option in node.get("anyOf", []) + node.get("allOf", []):
            yield from walk(option, path)
        for key, value in node.get("properties", {}).items():
            yield from walk(value, f"{path}.{key}" if path else key)
        if "items" in node:
            yield from walk(node["items"], path + "[*]")
        if node.get("type") in ("integer", "number", "boolean"):
            yield path

    return set(walk(schema, ""))


def main():
    schema, *folders = sys.argv[1:]
    wrong, covered = [], set()
    for folder in folders:
        run = Run(folder)
        report = json.loads((run.folder / "report" / "report.json").read_text())
        differ, seen = check(run, report)
        wrong += [f"{run.plan['experiment']}: {line}" for line in differ]
        covered |= set(seen)
        by_group = {}
        for path, groups in seen.items():
            for name in groups:
                n, paths = by_group.setdefault(name, [0, set()])
                by_group[name][0] = n + 1
                paths.add(path)
        print(f"{run.plan['experiment']}: {sum(n for n, _ in by_group.values())} figures, {len(seen)} kinds")
        for name, (n, paths) in by_group.items():
            print(f"  {name:<28} {n:>5} figures, {len(paths):>3} kinds")
    for path in sorted(schema_figures(json.loads(open(schema).read())) - covered):
        if path not in NOT_SHOWN and declared.of(path) is None:
            wrong.append(f"{path}: no run here shows it, and no reason is given")
    for path in sorted(set(NOT_SHOWN) & covered):
        wrong.append(f"{path}: a run shows it, and it is listed as not shown")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


CHECKS = [
    ("counts of the run", rungs.header),
    ("rungs as planned", rungs.planned),
    ("latency", rungs.latencies),
    ("failures", rungs.failures),
    ("refused rounds", rungs.refusals),
    ("throughput", rungs.throughput),
    ("increments", rungs.increments),
    ("open loop", rungs.open_loop),
    ("streams", rungs.streams),
    ("answers", rungs.answers),
    ("goodput", rungs.goodput),
    ("cached tokens", rungs.cache),
    ("failures by name", rungs.named_failures),
    ("edge, boundary and shape", ends.ends),
    ("capacity", ends.capacity),
    ("knee and its confidence", curve.bends),
    ("steadiness", ends.steadiness),
    ("latency slopes", curve.slopes_of_latency),
    ("equal throughput", curve.equal_throughput),
    ("server's own metrics", machine.metrics),
    ("server's gauges", machine.gauges),
    ("card", machine.card),
    ("client at the rungs", machine.sender),
    ("client in all", machine.instrument),
    ("baseline", machine.baseline),
    ("peaks of memory", memory.peaks),
    ("headroom, pool and slopes", memory.whole),
    ("limits", memory.limits),
    ("checks of limits", settings.checks),
    ("diagnosis and bottleneck", diagnosis.diagnoses),
    ("first signs", diagnosis.onsets),
    ("settings", settings.settings),
    ("configurations", settings.configs),
]

if __name__ == "__main__":
    main()
