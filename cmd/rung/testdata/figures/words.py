"""Figures in the report's sentences and tables (report.md): each is one that was checked, rounded to the digits that
it has and maybe in another unit, or is explained here."""

import bisect
import json
import re
from datetime import datetime

from ends import walks
from run import seconds
from spans import FIGURE

UNITS = (1, 100, 1000, 1e6, 2**-10, 2**-20, 2**-30)  # as it is, %, ms, µs, KiB, MiB, GiB

# Figures of the rules themselves: levels, the requests that a percentile needs, codes of HTTP.
OF_RULES = (0.95, 2, 5, 19, 20, 59, 95, 98, 299, 1000, 429, 503)


def unexplained(run):
    """How many figures there are in words, and those that nothing explains, with their lines."""
    known = numbers([run.report, run.manifest])
    values = sorted({abs(v) * unit for v in known | derived(run) for unit in UNITS} | set(OF_RULES))
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
    """What the words make of two figures: the run's time, what a step brings and costs, answers over a ladder."""
    out = {(datetime.fromisoformat(run.manifest["ended"][:26]) - datetime.fromisoformat(run.manifest["began"][:26])).total_seconds()}
    for w in walks(run):
        measured = [s for s in w.shown if s["latency"] and s["throughput"]]
        for a, b in zip(measured, measured[1:]):
            out |= {b["latency"]["p95_s"] / a["latency"]["p95_s"], b["throughput"] / a["throughput"] - 1}
    for l in run.report["ladders"]:
        outputs = [r["output"] for r in l["rungs"] if "output" in r]
        out |= {sum(o["short"] for o in outputs), sum(o["n"] for o in outputs)}
    return out


def recorded(run):
    """The texts that were recorded, with figures of their own: ids, dates, answers of the server, reasons of the runner."""
    said = run.values("""select reject_reason from rows where reject_reason is not null union select error from rows where error is not null
      union select reason from events where reason is not null""")
    return " ".join([json.dumps(run.manifest), (run.folder / "spec.hcl").read_text(), *said])


def rounded(text, values):
    """Whether one of the rising values is text, rounded to its digits."""
    mantissa, _, exponent = text.partition("e")
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    i = bisect.bisect_left(values, float(text) - half)
    return i < len(values) and values[i] <= float(text) + half
