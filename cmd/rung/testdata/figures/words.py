"""Figures in the report's sentences and tables (report.md): each is one that was checked, rounded to the digits that
it has and maybe in another unit, or is explained here."""

import bisect
import collections
import itertools
import json
import math
import re
from datetime import datetime

from ends import walks
from run import seconds
from spans import FIGURE

UNITS = (1, 100, 1000, 1e6, 2**-10, 2**-20, 2**-30)  # as it is, %, ms, µs, KiB, MiB, GiB

# Figures of the rules themselves: levels, the requests that a percentile needs, codes of HTTP.
OF_RULES = (0.95, 2, 5, 19, 20, 59, 95, 98, 299, 1000, 429, 503)


def unexplained(run, held):
    """How many figures there are in words, and those that nothing explains, with their lines. held are figures that the
    report has in words alone, and that were checked there."""
    known = numbers([run.report, run.manifest]) | derived(run) | held
    values = sorted({abs(v) * unit for v in known for unit in UNITS} | set(OF_RULES))
    quoted = set(FIGURE.findall(recorded(run)))
    n, out = 0, []
    for line in (run.folder / "report" / "report.md").read_text().splitlines():
        for text in FIGURE.findall(line.replace(",", "")):
            n += 1
            if not (text in quoted or rounded(text, values)):
                out.append(f"{text} is in words and no figure that was checked: {line.strip()[:160]}")
    return n, out


def numbers(node):
    """All numbers of a document, and spans of time in it as seconds."""
    found, todo = set(), [node]
    while todo:
        node = todo.pop()
        if isinstance(node, (dict, list)):
            todo += node.values() if isinstance(node, dict) else node
        elif isinstance(node, (int, float)):
            found.add(float(node))
        elif isinstance(node, str) and re.fullmatch(r"([\d.]+[a-zµ]+)+", node):
            found.add(seconds(node))
    return found


def derived(run):
    """What the words make of several figures: the run's time, what a rung brings and costs over one below, failures and
    answers over a ladder, the share of a pool that is free, cut; and when something of note happened."""
    began, ended = (datetime.fromisoformat(run.manifest[name][:26]) for name in ("began", "ended"))
    out = {(ended - began).total_seconds()} | set(run.values("select t_s from events where kind not like 'round%'"))
    for w in walks(run):
        measured = [s for s in w.shown if s["latency"] and s["throughput"]]
        for a, b in itertools.combinations(measured, 2):
            out |= {b["latency"][key] / a["latency"][key] for key in ("median_s", "p95_s")}
            out |= {b["throughput"] / a["throughput"], b["throughput"] / a["throughput"] - 1}
    for l in run.report["ladders"]:
        below = [r for r in l["rungs"] if "edge" not in l or r["index"] < l["edge"]["index"]]
        outputs = [r["output"] for r in l["rungs"] if "output" in r]
        failed = collections.Counter()
        for r in below:
            failed.update({f["name"]: f["n"] for f in r.get("failures", [])})
        out |= {sum(o["short"] for o in outputs), sum(o["n"] for o in outputs), sum(failed.values()), *failed.values()}
    pool = run.report["memory"]["headroom"].get("pool")
    return out | ({math.floor(100 * pool["free"])} if pool else set())


def recorded(run):
    """The texts that were recorded, with figures of their own: ids, dates, answers of the server, reasons of the runner."""
    said = run.values("""select reject_reason from rows where reject_reason is not null union select error from rows where error is not null
      union select reason from events where reason is not null""")
    shown = [f"{datetime.fromisoformat(run.manifest[name][:19]):%Y-%m-%d %H:%M:%S} UTC" for name in ("began", "ended")]
    return " ".join([json.dumps(run.manifest), (run.folder / "spec.hcl").read_text(), *shown, *said])


def rounded(text, values):
    """Whether one of the rising values is text, rounded to its digits."""
    mantissa, _, exponent = text.partition("e")
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    i = bisect.bisect_left(values, float(text) - half)
    return i < len(values) and values[i] <= float(text) + half
