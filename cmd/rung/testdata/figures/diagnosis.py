"""What bound each rung, by two signals that agree, and which sign of it came first."""

import math

from curve import bends
from ends import walks
from machine import card, gauges, sender
from memory import memory
from rungs import MEASURED, at, open_loop, streams
from spans import Says


def percent(share):
    """A share in per cent as it is shown: without a false 100."""
    whole = math.floor(100 * share + 0.5)
    return 99 if whole >= 100 and share < 1 - 1e-9 else whole


def alike(x, y):
    return y > 0 and abs(x / y - 1) <= 0.10


class Facts:
    """All that a rung showed, and the rung walked below it."""

    def __init__(self, run, w, i, k):
        self.run, self.w, self.rung, self.m = run, w, w.rungs[k], memory(run)
        self.shown = w.shown[k]
        self.gauges, self.card, self.client = (part(run)["ladders"][i]["rungs"][k].get(name) or {} for part, name in
                                               ((gauges, "server"), (card, "card"), (sender, "client")))
        self.stream = streams(run)["ladders"][i]["rungs"][k].get("stream", {})
        self.open = open_loop(run)["ladders"][i]["rungs"][k].get("open_loop")
        self.memory = self.m.peaks[i][k]
        self.below, self.growth = None, 1

    def median(self):
        return self.shown["latency"]["median_s"] if self.shown["latency"] else None

    def refused(self, why):
        """Attempts refused for a reason at a rung that lost a round."""
        lost = self.run.value(f"select count(*) from (select 1 from rows where {MEASURED} group by pass, round having not bool_or(counted))",
                              **at(self.w.plan, self.rung))
        n = self.run.value(f"""select count(*) from (select any_value(reject_reason) as why from rows where {MEASURED}
          group by pass, round, attempt having not bool_or(counted)) where starts_with(why, $why)""", why=why, **at(self.w.plan, self.rung))
        return n if lost else 0

    def elasticity(self):
        """By which power of the load the median latency grew from the rung below."""
        if not self.below or self.median() is None or self.growth <= 1:
            return 0
        return math.log(self.median() / self.below.median()) / math.log(self.growth)

    def ratio(self, part):
        """The median of a part of the streams over that of the rung below."""
        mine, under = self.stream.get(part), self.below.stream.get(part)
        return mine["median_s"] / under["median_s"] if mine and under else None

    def waits(self):
        """The share of the readings in which requests waited; of one at a time none can."""
        return 0 if self.rung["shape"]["in_flight"] <= 1 and not self.open else self.gauges.get("waiting_share")

    def may_wait(self):
        return self.waits() is None or self.waits() > 0.5

    def pool_full(self):
        return (self.gauges.get("kv_usage_most") or 0) >= 0.95

    def preempted(self):
        return (self.gauges.get("preemptions") or 0) > 0

    def spilled(self):
        """The card's memory is about full while its utilisation drops."""
        mine, under = self.card.get("util_mean_pct"), self.below and self.below.card.get("util_mean_pct")
        full = not self.m.up_front and self.memory and self.memory["peak_bytes"] >= 0.98 * self.m.total
        return full and None not in (mine, under) and mine < under - 10

    def full(self):
        return self.pool_full() or self.preempted() or self.spilled()

    def power(self):
        return self.card.get("power_of_limit")

    def util(self):
        return self.card.get("util_mean_pct")

    def at_power(self):
        return self.power() is not None and self.power() >= 0.85

    def under_power(self):
        return self.util() is not None and self.power() is not None and self.util() >= 95 and self.power() < 0.75

    def starved(self):
        """The card ran dry again and again, and neither a slowdown nor the client explains it."""
        dry = (self.card.get("idle_share") or 0) >= 0.10 and self.card["falls_to_idle"] >= 3
        return dry and not self.card["slowed_samples"] and not list(self.by_client())

    # The signals of each cause: the figures that each rests on.

    def by_client(self):
        c, asked = self.client, self.rung["shape"]["in_flight"]
        if c.get("in_flight") is not None and not self.open and c["in_flight"] < 0.95 * asked:
            yield [c["in_flight"], asked]
        if c.get("late_share") is not None and c["late_share"] > 0.05 and c["late_p95_s"] > 0.001:
            yield [percent(c["late_share"])]
        if (c.get("cpu_pct") or 0) > 85:
            yield [c["cpu_pct"]]
        if n := self.refused("client_limited"):
            yield [n]

    def by_throttling(self):
        if self.card.get("slowed_samples"):
            yield [self.card["slowed_samples"], self.card["samples"], self.card["slowdown_bits"]]
        if (self.card.get("sm_clock_least_pass") or 1) < 0.95:
            yield [percent(self.card["sm_clock_least_pass"])]
        if n := self.refused("throttled"):
            yield [n]

    def by_paging(self):
        if self.preempted():
            yield [self.gauges["preemptions"]]
        if self.pool_full():
            yield [percent(self.gauges["kv_usage_most"])]
        if (self.pool_full() or self.preempted()) and (self.waits() or 0) > 0.5:
            yield [percent(self.waits())]
        if self.spilled():
            yield [self.below.util(), self.util()]
        mine, under = self.shown["throughput"], self.below and self.below.shown["throughput"]
        if self.full() and mine and under and mine < 0.95 * under:
            yield [percent(mine / under), self.below.rung["value"]]

    def by_queueing(self):
        g, b = self.gauges, self.below
        if (g.get("waiting_share") or 0) > 0.5:
            yield [percent(g["waiting_share"]), g["readings"], g["waiting_mean"]]
        if not b or self.growth <= 1.1:
            return
        mine, under = g.get("running_mean"), b.gauges.get("running_mean")
        if None not in (mine, under) and alike(mine, under):
            yield [mine, under, b.rung["value"]]
        ttft, tpot = self.ratio("ttft"), self.ratio("tpot")
        if ttft and tpot and ttft > 1.1 and alike(tpot, 1):
            yield [ttft, b.rung["value"], tpot]
        peaks = [p["peak_bytes"] for p in (self.memory, b.memory) if p and not p["after_high_water"]]
        flat = len(peaks) == 2 and not self.m.up_front and max(peaks) - min(peaks) < 0.005 * self.m.total
        if self.w.plan["axis"] == "concurrency" and flat and self.elasticity() >= 0.8:
            yield [self.elasticity()]

    def by_compute(self):
        if (self.util() or 0) >= 95:
            yield [self.util()]
        if self.at_power():
            yield [percent(self.power())]
        if self.elasticity() >= 0.5:
            yield [self.elasticity()]

    def by_bandwidth(self):
        if self.under_power():
            yield [self.util(), percent(self.power())]
        if not self.below or self.growth <= 1.1:
            return
        tpot = self.ratio("tpot")
        over = tpot if tpot and self.ratio("ttft") else self.median() / self.below.median() if self.median() else None
        if over and alike(over, 1):
            yield [over, self.below.rung["value"]]

    def by_host(self):
        if self.starved():
            yield [0, self.card["falls_to_idle"], percent(self.card["idle_share"])]
            if self.util() < 75:
                yield [self.util()]

    def diagnosis(self):
        """The verdict takes two signals of a cause, its own among them, and nothing that rules it out."""
        causes = [  # the name, the signals, whether its own is among them, what rules it out
            ("client_limited", self.by_client, True, False),
            ("throttled", self.by_throttling, True, False),
            ("paging", self.by_paging, self.full(), False),
            ("queueing", self.by_queueing, True, self.waits() is not None and self.waits() <= 0.5 or self.pool_full()),
            ("compute-bound", self.by_compute, self.at_power() and self.elasticity() >= 0.5, self.may_wait()),
            ("bandwidth-bound", self.by_bandwidth, self.under_power(), self.may_wait()),
            ("host-bound", self.by_host, self.starved(), False),
        ]
        signals, hold = [], []
        for name, of, speaks, barred in causes:
            found = list(of())
            signals += [{"of": name, "says": Says(figures)} for figures in found]
            if len(found) >= 2 and speaks and not barred:
                hold.append(name)
        if hold[:1] in (["client_limited"], ["throttled"]) or len(hold) == 1 or hold == ["paging", "queueing"]:
            verdict = hold[0]
        else:
            verdict = "undetermined"
        return {"verdict": verdict, "signals": sorted(signals, key=lambda s: s["of"] != verdict)}


def diagnoses(run):
    out = []
    for i, (w, b) in enumerate(zip(walks(run), bends(run)["ladders"])):
        below, rungs = None, []
        for k in range(len(w.rungs)):
            f = Facts(run, w, i, k)
            f.below, f.growth = below, f.rung["value"] / below.rung["value"] if below else 1
            rungs.append({"diagnosis": f.diagnosis()})
            below = f if f.shown["latency"] else below
        out.append({"rungs": rungs} | bottleneck(w, rungs, b["knee"].get("knee")))
    return {"ladders": out}


def bottleneck(w, rungs, knee):
    """The rung above the best, an edge that is slow, else the highest that did not fail; along lengths each is other work."""
    if w.plan["axis"] in ("input_tokens", "output_tokens"):
        return {}
    value = knee or (w.edge["value"] if w.kind == "slow" else [r["value"] for r, s in zip(w.rungs, w.shown) if not s["failed"]][-1])
    verdict = next(d["diagnosis"]["verdict"] for r, d in zip(w.rungs, rungs) if r["value"] == value)
    return {"bottleneck": {"value": value, "verdict": verdict}}


def onsets(run):
    """The signs that the server has enough, the first in time first: of each kind the earliest."""
    return {"ladders": [{"onsets": signs(run, i, w)} for i, w in enumerate(walks(run))]}


def signs(run, i, w):
    found = []
    name = w.plan["name"]
    ratio = run.rules["knee"]["p95_over_baseline"]
    for r, s in zip(w.rungs, w.shown):
        if s["latency"] and w.plan["axis"] not in ("input_tokens", "output_tokens"):
            known = run.value(f"""select max(done_t_s) from rows
              where {MEASURED} and pass = (select min(pass) from rows where {MEASURED})""", **at(w.plan, r))
            if s["latency"]["p95_s"] > ratio * w.base()["p95_s"]:
                found.append(("P95 off the baseline", r["value"], known))
            if s["latency"]["mean_s"] > ratio * w.base()["mean_s"]:
                found.append(("mean off the baseline", r["value"], known))
    m, gauges_of = memory(run), gauges(run)["ladders"][i]["rungs"]
    found += [tuple(row.values()) for row in run.all("""
      select case when outcome in ('overloaded', 'rate_limited', 'unavailable') then '429 or 503' else outcome end as what, rung_value, done_t_s
      from rows where ladder = $ladder and phase in ('measure', 'confirm') and not reset_idle
        and outcome in ('overloaded', 'rate_limited', 'unavailable', 'timeout', 'oom', 'reset')""", ladder=name)]
    found += [tuple(row.values()) for row in run.all("""
      select case series when 'waiting' then 'requests wait' else 'memory at the ceiling' end as what, r.value, p.t_s
      from looked a join page p on p.t_s between begin_s and end_s join rungs r using (ladder, rung_index)
      where a.ladder = $ladder and (series = 'waiting' and p.value > 0 or series = 'kv_usage' and p.value >= 0.95)""", ladder=name)]
    for r, g in zip(w.rungs, gauges_of):
        if (g.get("server", {}).get("preemptions") or 0) > 0:
            begun = run.value(f"select min(t_s) from rows where {MEASURED}", **at(w.plan, r))
            found.append(("preemption", r["value"], begun))
    if m.known and not m.up_front:
        found += [tuple(row.values()) for row in run.all("""
          select 'memory at the ceiling' as what, rung_value, t_s from gpu
          where device = $device and ladder = $ladder and mem_used_bytes >= 0.98 * $total""", device=m.device["device"], ladder=name, total=m.total)]
    first = {}
    for what, value, t in found:
        if what not in first or t < first[what][1]:
            first[what] = (value, t)
    return [{"what": what, "value": value, "t_s": t} for what, (value, t) in sorted(first.items(), key=lambda f: (f[1][1], f[0]))]
