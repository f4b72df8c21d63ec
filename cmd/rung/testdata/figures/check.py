"""Holds every figure of a run's report against DuckDB queries over its Parquet.

    check.py [--schema SCHEMA] RUN...

RUN is a run's folder with a report in it, and what the page's pictures show (pictures.json).
Every number and every truth value of these must be one that a check here gives too, or be
declared: then it is held against the manifest. One that is in neither fails, as does one
that a check gives and the report has not: exit status 1 and a line for each. With the
report's JSON schema (rung schema --report), exit status 3 where a figure of it is in none of
the runs, unless it is listed here with the reason.
"""

import argparse
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
import pictures
import rungs
import settings
import words
from run import Run
from spans import FIGURE, Either, Says

# Relative tolerance of floating-point figures: sums are added up in another order.
TOLERANCE = 1e-9

# Figures of the schema that none of the runs may show, and why.
MAY_LACK = {
    r"(baseline|checks\[\*\]|.+\.stream)\..+\.p99_interval\..+": "it takes 299 requests; the rungs' own latency has them",
    r"(baseline|checks\[\*\])\.warmup_failures\[\*\]\.n": "which requests a fault falls on is not planned to the warm-up",
    r"ladders\[\*\]\.capacity\.saturated_at": "on a busy machine the rates that saturate are the client's limit",
    r"baseline\.refused\[\*\]\.attempts": "on a quiet machine none is",
    r"ladders\[\*\]\.knee\.(irregular\[\*\]|others\[\*\]\.share|at_least)": "a dip, passes that disagree and a knee that is not reached are chance",
    r"ladders\[\*\]\.rungs\[\*\]\.server\.batch_at_cap_share": "the simulated server has no histogram of its batches",
    r"ladders\[\*\]\.rungs\[\*\]\.stream\.chunk_gaps\..+_interval\..+": "the gaps of one answer hang together, so there is none",
    r"client\.near_floor.+": "a server in rung's own process has no self-check beside it",
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


def agree(got, want):
    """Whether a value of the report is the one that was found here."""
    if got is None or want is None:
        return got is want
    if isinstance(want, Says):
        found = FIGURE.findall(got)
        return len(found) == len(want) and all(shown(text, figure) for text, figure in zip(found, want))
    if isinstance(want, Either):
        return any(agree(got, w) for w in want)
    if isinstance(want, (bool, str)) or isinstance(got, (bool, str)) or isinstance(got, int) and isinstance(want, int):
        return got == want
    return math.isclose(got, want, rel_tol=TOLERANCE, abs_tol=1e-15)


def shown(text, figure):
    """Whether text is figure, rounded to the digits that text has."""
    if text.startswith("0x"):
        return int(text, 16) == figure
    mantissa, _, exponent = text.partition("e")
    digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(text) - figure) <= 0.5000001 * digit


def check(run):
    """Holds one report against the checks; gives what differs, of each pattern the checks that hold its figures, and how many
    figures its words have."""
    expected, wrong, seen = {}, [], {}
    for name, part in CHECKS:
        for path, value in leaves(part(run)):
            expected.setdefault(path, []).append((name, value))
    report = dict(leaves(run.report))
    for path, got in report.items():
        for name, want in expected.get(path, []):
            if not agree(got, want):
                wrong.append(f"{path}: the report has {got!r}, and {name} by DuckDB gives {want!r}")
        if not is_figure(got) and not any(isinstance(want, Says) for _, want in expected.get(path, [])):
            continue
        names = [name for name, _ in expected.get(path, [])]
        if not names:
            declaration = declared.of(pattern(path))
            if declaration is None:
                wrong.append(f"{path}: {got!r} is in no check and not declared")
                continue
            if not declaration.holds(run, path, got):
                wrong.append(f"{path}: the report has {got!r}, and {declaration.says}")
        seen.setdefault(pattern(path), []).append(names or ["declared"])
    for path, found in expected.items():
        name, want = found[0]
        if want and path not in report:  # what is 0 or false may be left out
            wrong.append(f"{path}: {name} by DuckDB gives {want!r}, and the report has nothing")
    held = {abs(figure) for found in expected.values() for _, want in found if isinstance(want, Says) for figure in want}
    said, unexplained = words.unexplained(run, held)
    return wrong + unexplained, seen, said


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
    parser = argparse.ArgumentParser(usage="%(prog)s [--schema SCHEMA] RUN...")
    parser.add_argument("--schema", type=argparse.FileType())
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    wrong, lacking, covered = [], [], set()
    for folder in args.runs:
        run = Run(folder)
        differ, seen, said = check(run)
        wrong += [f"{run.plan['experiment']}: {line}" for line in differ]
        covered |= set(seen)
        print(f"{run.plan['experiment']}: {sum(map(len, seen.values()))} figures of {len(seen)} kinds")
        for name in [name for name, _ in CHECKS] + ["declared"]:
            kinds = [n for n in (sum(name in names for names in held) for held in seen.values()) if n]
            if kinds:
                print(f"  {name:<26} {sum(kinds):>5} figures of {len(kinds):>3} kinds")
        print(f"  {'in words and tables':<26} {said:>5} figures, each one of these")
    for path in sorted(schema_figures(json.load(args.schema)) - covered) if args.schema else []:
        if declared.of(path) is None and not any(re.fullmatch(p, path) for p in MAY_LACK):
            lacking.append(path)
    for line in wrong:
        print("wrong:", line)
    for path in lacking:
        print("lacking:", path, "is in no run here, and no reason is given")
    sys.exit(1 if wrong else 3 if lacking else 0)


CHECKS = [
    ("counts of the run", rungs.header),
    ("rungs as planned", rungs.planned),
    ("latency", rungs.latencies),
    ("the report's own queries", rungs.queries),
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
    ("pictures", pictures.pictures),
]

if __name__ == "__main__":
    main()
