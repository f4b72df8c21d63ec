"""How a ladder ends: the edge by the stop rule, the rung below it, the shape of the end, capacity, steadiness."""

import math
import statistics
from functools import cache

from rungs import COUNTED, DONE, MEASURED, at, fails, latencies, open_loop, rates, refused, walked
from spans import Says, latency, tally


class Walk:
    """One ladder: what its rungs showed, and where it ended."""

    def __init__(self, run, i, shown):
        self.run, self.plan = run, run.ladders[i]
        self.rungs = walked(run, self.plan)[0]
        self.shown = [latency | rates(run, self.plan, r) | {"failed": fails(run, self.plan, r)}
                      for r, latency in zip(self.rungs, shown["ladders"][i]["rungs"])]
        self.kneed = self.plan["axis"] in ("batch", "concurrency")
        self.slow = self.slow_edge()
        self.edge, self.kind = None, None
        for r, s in zip(self.rungs, self.shown):
            if s["failed"] or self.slow and r["index"] == self.slow[0]:
                self.edge, self.kind = r, "failure" if s["failed"] else "slow"
                break
        below = [r for r, s in zip(self.rungs, self.shown) if self.edge and r["index"] < self.edge["index"] and s["latency"]]
        self.boundary = below[-1]["value"] if below else None
        self.usable = [(r, s) for r, s in zip(self.rungs, self.shown)
                       if self.below_edge(r) and s["latency"] and s["throughput"] and not refused(run, self.plan, r)["client_limited"]]

    def below_edge(self, r):
        return self.edge is None or r["index"] < self.edge["index"]

    def at(self, value):
        """The rung of a value with what it showed; None without one."""
        return next(((r, s) for r, s in zip(self.rungs, self.shown) if r["value"] == value), None)

    def base(self):
        """What P95 and mean are held against: the rung of one, else the baseline with equal fixed values, else the first rung."""
        one = self.at(1)
        if one and one[1]["latency"]:
            return one[1]["latency"]
        b = self.run.cell["baseline"]
        if self.rungs[0]["shape"] | {"in_flight": b["shape"]["in_flight"]} == b["shape"]:
            return latency(self.run, "select latency_s as s from rows where phase = 'baseline' and counted and outcome = 'ok'")
        return self.shown[0]["latency"]

    def slow_edge(self):
        """The first rung that was too slow when it was walked, round by round, by what was known then; and the pass."""
        run, stop = self.run, self.plan["stop"]
        if "p95_over_baseline" not in stop and "throughput_drop" not in stop:
            return None
        single = run.value("select quantile_cont(latency_s, 0.95) from rows where phase = 'baseline' and outcome = 'ok'")
        unit = "inputs" if not run.generates else "tokens"
        edge, found = len(self.plan["rungs"]), None
        seen = {}  # of each rung the rounds that are over, as conditions
        for p in self.plan["passes"]:
            for i in p["order"]:
                if i >= edge:
                    continue
                args = {"ladder": self.plan["name"], "rung": i}
                for n in run.values(f"select distinct round from rows where {MEASURED} and pass = $pass order by 1", **args, **{"pass": p["index"]}):
                    seen.setdefault(i, []).append(f"(pass = {p['index']} and round = {n})")
                    known = lambda j: "(" + " or ".join(seen[j]) + ")"
                    total, named = tally(run, f"{MEASURED} and {known(i)}", **args)
                    failed = sum(f["n"] for f in named)
                    if any(f["name"] in stop.get("outcomes", []) for f in named) or failed >= 2 and failed > stop["failure_ratio"] * total:
                        edge = i
                        break

                    def pace(j):
                        return run.one(f"""select (select sum({unit}) / sum(span_s) from flows where phase = 'measure' and counts
                            and ladder = $ladder and rung_index = $rung and {known(j)}) as x,
                          count(*) as n, quantile_cont(latency_s, 0.95) as p95 from rows where {DONE} and {known(j)}""",
                                       ladder=self.plan["name"], rung=j)

                    here, below = pace(i), [pace(j)["x"] or 0 for j in seen if j < i]
                    held = single or pace(0)["p95"]
                    if here["n"] < max(1, stop["min_requests"]):
                        continue
                    late = "p95_over_baseline" in stop and here["p95"] > stop["p95_over_baseline"] * held
                    less = "throughput_drop" in stop and below and (here["x"] or 0) < (1 - stop["throughput_drop"]) * max(below)
                    if late or less:
                        edge, found = i, (i, p["index"], late)
                        break
        return found if found and found[0] == edge else None


@cache
def walks(run):
    """The ladders of a run, once for all checks."""
    shown = latencies(run)
    return [Walk(run, i, shown) for i in range(len(run.ladders))]


def ends(run):
    return {"ladders": [end(run, w) for w in walks(run)]}


def end(run, w):
    out = {"boundary": w.boundary}
    if w.kind == "slow":
        few = w.slow[2] and min(w.at(w.edge["value"])[1]["latency"]["n"], w.base()["n"]) < 59
        out["edge"] = edge(run, w) | {"pass": w.slow[1], "at_times": False, "on_few": few}
        out["shape"] = {"value": w.edge["value"], "round": 0, "kind": "slow without failing"}
    elif w.edge:
        rounds = run.all("""select pass, phase, failed > 0 as failed from attempts where ladder = $ladder and rung_index = $rung
          and phase in ('measure', 'confirm') order by phase desc, pass, round, attempt""", **at(w.plan, w.edge))
        first_pass = next(r["pass"] for r in rounds if r["phase"] == "measure" and r["failed"])
        confirming = [r["failed"] for r in rounds if r["phase"] == "confirm"]
        at_times = not all(confirming)
        out["edge"] = edge(run, w) | {"pass": first_pass, "at_times": at_times, "on_few": False}
        failed = [r["failed"] for r in rounds if r["pass"] == first_pass]
        first = failed.index(True)
        ever_after = all(failed[first:]) and not at_times and (first == 0 or confirming)
        kind = "at times" if not ever_after else "each round" if first == 0 else "from round n"
        out["shape"] = {"value": w.edge["value"], "kind": kind, "round": first + 1 if kind == "from round n" else 0}
    elif w.kneed:
        best = None
        for r, s in w.usable:
            if best and s["throughput"] < 0.9 * best["throughput"] and s["latency"]["median_s"] > best["latency"]["median_s"]:
                out["shape"] = {"value": r["value"], "round": 0, "kind": "slow without failing"}
                break
            if not best or s["throughput"] > best["throughput"]:
                best = s
    return out


def edge(run, w):
    named = tally(run, MEASURED, **at(w.plan, w.edge))[1]
    return {"index": w.edge["index"], "value": w.edge["value"], "kind": w.kind, "failures": named}


def capacity(run):
    """Rates: the last that the server bears, and P95 at shares of it, between the rates around."""
    loops = open_loop(run)["ladders"]
    out = []
    for w, l in zip(walks(run), loops):
        if w.plan["axis"] != "rate":
            out.append({})
            continue
        borne, beyond = [], None
        for r, s, o in zip(w.rungs, w.shown, l["rungs"]):
            if not w.below_edge(r):
                break
            if "open_loop" in o and s["latency"]:
                if o["open_loop"]["saturated"]:
                    beyond = r["value"]
                    break
                borne.append((r["value"], s["latency"]))
        c = {"saturated_at": beyond, "at_least": bool(borne) and beyond is None and w.edge is None}
        if borne:
            most = borne[-1][0]
            c |= {"value": most, "p95_below": [{"share": share, "rate": share * most} | between(borne, share * most) for share in (0.70, 0.85)]}
        out.append({"capacity": c})
    return {"ladders": out}


def between(borne, rate):
    """P95 at a rate, on the line between the two measured around it; below the lowest nothing is known."""
    for (x0, l0), (x1, l1) in zip([(None, None)] + borne, borne):
        if x1 == rate:
            x0, l0 = x1, l1
        if x1 >= rate and x0 is not None:
            part = (rate - x0) / (x1 - x0) if x1 > x0 else 0
            return {"p95_s": l0["p95_s"] + part * (l1["p95_s"] - l0["p95_s"]), "p95_supported": l0["p95_supported"] and l1["p95_supported"]}
    return {"p95_supported": False}


def kruskal(*samples):
    """The p of the rank test of samples with mean ranks for ties; of two it is Mann and Whitney's, without continuity correction.
    chi-squared of more than one degree of freedom by Wilson and Hilferty's cube root."""
    every = sorted(x for s in samples for x in s)
    n = len(every)
    rank = {x: every.index(x) + (every.count(x) + 1) / 2 for x in set(every)}
    h = 12 / (n * (n + 1)) * sum(sum(rank[x] for x in s) ** 2 / len(s) for s in samples) - 3 * (n + 1)
    correct = 1 - sum(every.count(x) ** 3 - every.count(x) for x in set(every)) / (n**3 - n)
    if correct <= 0:
        return 1.0
    h, k = max(0.0, h / correct), len(samples) - 1
    if k == 1:
        return math.erfc(math.sqrt(h / 2))
    v = 2 / (9 * k)
    return 1 - statistics.NormalDist(1 - v, math.sqrt(v)).cdf(math.cbrt(h / k))


def unlike(samples, share):
    """The medians of the first and last of samples and p, where they differ by more than a share and by more than chance."""
    x, y = statistics.median(samples[0]), statistics.median(samples[-1])
    if x <= 0 or abs(y / x - 1) <= share:
        return None
    p = kruskal(*samples)
    return (x, y, p) if p < 0.01 else None


def steadiness(run):
    from curve import bends

    best = [b["knee"].get("best") for b in bends(run)["ladders"]]
    return {"ladders": [{} if w.plan["axis"] == "rate" else
                        {"rungs": [{"steady": steady(run, w, r, b)} for r in w.rungs]} for w, b in zip(walks(run), best)]}


def steady(run, w, r, best):
    """Of each pass the first and last third of the latencies, or of the rounds where requests queue; and the rounds
    among each other, which may differ by a quarter. Fewer than five values on a side tell nothing."""
    slots, n = run.manifest["server"].get("max_concurrent", 0), r["shape"]["in_flight"]
    queued = w.plan["axis"] == "concurrency" and best is not None and r["value"] > best or 0 < slots < n
    looked, moved, how = 0, 0, None
    for p in w.plan["passes"]:
        rows = run.all(f"""select round, outcome, latency_s, row_number() over (partition by round order by t_s, request_index) as nth,
            dense_rank() over (order by round, attempt) as round_nth
          from rows where {COUNTED} and pass = $pass order by round, attempt, t_s, request_index""", **at(w.plan, r), **{"pass": p["index"]})
        rounds = {}
        for row in rows:
            rounds.setdefault(row["round"], [])
            if row["outcome"] == "ok":
                rounds[row["round"]].append(row["latency_s"])
        rounds = list(rounds.values())
        if queued:
            if len(rounds) < 3:
                continue
            third = len(rounds) // 3
            first, last = sum(rounds[:third], []), sum(rounds[-third:], [])
        else:  # without the sends that find the server as no later one does
            settled = [row["latency_s"] for row in rows if row["outcome"] == "ok"
                       and not (row["nth"] <= n and (row["round_nth"] == 1 or n > 1))]
            third = len(settled) // 3
            first, last = settled[:third], settled[len(settled) - third:]
        told = min(len(first), len(last)) >= 5
        differ = unlike([first, last], 0.05) if told else None
        long = sorted((x for x in rounds if len(x) >= 5), key=statistics.median)
        if not differ and len(long) >= 2:
            told, differ = True, unlike(long, 0.25)
        looked += told
        if differ:
            how = how or (p["index"] + 1, *differ)
            moved += 1
    verdict = "unknown" if not looked else "not steady" if 2 * moved >= looked else "steady"
    return {"verdict": verdict, "passes": looked, "moved": moved} | ({"how": Says(how)} if how else {})
