"""Memory: the peaks of the rungs, their slopes, the limits that they leave and what stays free there."""

import math
from functools import cache

from curve import bends, fit
from ends import walks
from machine import device, gauges, idle

# Growing allocators keep what they took: a peak within a thousandth of what was there before says nothing.
SAME = 1.001


class Memory:
    """The device with the least room, the peaks of the rungs on the first walk up, and the limits that follow."""

    def __init__(self, run):
        self.run, self.device = run, device(run)
        self.known = self.device is not None
        self.gauges = [[r.get("server", {}) for r in l["rungs"]] for l in gauges(run)["ladders"]]
        self.pooled = any((g.get("kv_usage_most") or 0) > 0 for l in self.gauges for g in l)
        self.reserved, self.up_front, self.still = 0, self.pooled, False
        self.total, self.idle, self.after_high_water = None, None, set()
        self.peaks = [[None] * len(w.rungs) for w in walks(run)]
        if self.known:
            self.sampled()
        self.limits = [self.limit(w, b["knee"]) for w, b in zip(walks(run), bends(run)["ladders"])]
        self.head = self.headroom()

    def sampled(self):
        """What the samples of the card say."""
        run = self.run
        self.total = self.device["total"]
        self.idle = idle(run)["idle_bytes"]
        self.reserved = run.value("""select coalesce(arg_min(case when mem_call <> 'v1' then mem_reserved_bytes else 0 end, t_s), 0)
          from gpu where device = $device""", device=self.device["device"])
        self.peaks = [self.ladder(w, i == 0) for i, w in enumerate(walks(run))]
        moved = [self.idle] + [p["peak_bytes"] for w, peaks in zip(walks(run), self.peaks)
                               for r, p in zip(w.rungs, peaks) if p and w.below_edge(r)]
        moves = max(moved) - min(moved)
        self.up_front = self.pooled or self.idle >= 0.60 * self.total and moves < 0.02 * self.total
        self.still = moves < 0.005 * self.total

    def ladder(self, w, first):
        """The peak of each rung from its first warm-up to the end of its first walk."""
        high = None if first else self.high_water(w)
        out = []
        for r in w.rungs:
            peak = self.run.one("""
              with walk as (select min(t_s) as begin_s from events where kind = 'rung_begin' and ladder = $ladder and rung_index = $rung
                  and pass = 0 and phase is distinct from 'retest'),
              ended as (select begin_s, (select min(t_s) from events where kind = 'rung_end' and ladder = $ladder and rung_index = $rung
                  and pass = 0 and t_s >= begin_s) as end_s from walk)
              select max(mem_used_bytes) as peak_bytes, count(mem_used_bytes) as samples from gpu, ended
              where device = $device and t_s between begin_s and end_s and (ladder is null or ladder = $ladder and rung_index = $rung)""",
                ladder=w.plan["name"], rung=r["index"], device=self.device["device"])
            if not peak["samples"]:
                out.append(None)
                continue
            peak["over_idle_bytes"] = peak["peak_bytes"] - self.idle
            peak["after_high_water"] = high is not None and peak["peak_bytes"] <= high * SAME
            if out and out[-1] and not out[-1]["after_high_water"]:
                peak["over_below_bytes"] = peak["peak_bytes"] - out[-1]["peak_bytes"]
            out.append(peak)
        if high is not None:
            self.after_high_water.add(w.plan["name"])
        return out

    def high_water(self, w):
        """What a later ladder found in use, where that was over 1 % of the card above idle and the server had not been
        started again since the rung before."""
        found = self.run.one("""
          with begun as (select min(t_s) as begin_s from events where kind = 'rung_begin' and ladder = $ladder)
          select (select arg_max(mem_used_bytes, t_s) from gpu where device = $device and mem_used_bytes is not null and t_s <= begin_s) as level,
            coalesce((select max(t_s) from events where kind = 'restart_end' and reason is null and t_s <= begin_s)
              > (select max(t_s) from events where kind = 'rung_begin' and t_s < begin_s), false) as fresh
          from begun""", ladder=w.plan["name"], device=self.device["device"])
        taken = found["level"] is not None and found["level"] - self.idle > 0.01 * self.total
        return found["level"] if taken and not found["fresh"] else None

    def limit(self, w, knee):
        """What gets configured, before memory is looked at: the value and what bound it."""
        if w.edge and w.edge["index"] == w.rungs[0]["index"] or w.plan["axis"] == "rate":
            return None, None
        if not w.kneed:
            if w.edge:
                return w.boundary, "edge" if w.boundary else None
            passed = [r["value"] for r, s in zip(w.rungs, w.shown) if s["latency"]]
            return (passed[-1], "last_rung") if passed else (None, None)
        if knee["answer"] in ("found", "at_or_below_first"):
            value, bound = knee["knee" if self.run.rules["use"] == "offline" else "best"], "knee"
        elif knee["answer"] != "inconsistent" and w.boundary:
            value, bound = w.boundary, "edge"
        else:
            return None, None
        ratio = self.run.rules["limit"]["p95_ratio"]
        if w.plan["axis"] == "concurrency" and ratio:
            within = [r["value"] for r, s in zip(w.rungs, w.shown)
                      if w.below_edge(r) and s["latency"] and s["latency"]["p95_s"] <= ratio * w.base()["p95_s"]]
            if not within:
                return None, None
            if within[-1] < value:
                return within[-1], "p95"
        return value, bound

    def bearing(self):
        """The ladders whose limits headroom is about: those of load or, without such, all but rates."""
        every = list(range(len(walks(self.run))))
        axes = [w.plan["axis"] for w in walks(self.run)]
        return [i for i in every if axes[i] in ("batch", "concurrency")] or [i for i in every if axes[i] != "rate"]

    def need(self, i, value):
        """Peak and reserve at a rung: the memory between it and the rung above, extrapolated where that is not known."""
        w, peaks = walks(self.run)[i], self.peaks[i]
        k = next(k for k, r in enumerate(w.rungs) if r["value"] == value)
        here, peak = w.rungs[k], peaks[k]
        if not peak or peak["after_high_water"]:
            return None
        above = next((p for r, p in zip(w.rungs, peaks) if r["index"] == here["index"] + 1 and w.below_edge(r) and p), None)
        if above:
            step = above["peak_bytes"] - peak["peak_bytes"]
        else:
            below = [(r["value"], p["peak_bytes"]) for r, p in zip(w.rungs[:k], peaks) if p and not p["after_high_water"]]
            x, y = below[-1] if below else (0, self.idle)
            planned = w.plan["rungs"]
            following = planned[here["index"] + 1]["value"] if here["index"] + 1 < len(planned) else value * value / x if below else 2 * value
            step = (peak["peak_bytes"] - y) / (value - x) * (following - value)
        return peak["peak_bytes"], max(0, step) * self.run.rules["headroom"]["reserve_rungs"], above is None

    def headroom(self):
        out = {"reserved_bytes": 0, "safety_bytes": 0, "peak_bytes": 0, "reserve_bytes": 0, "reserve_extrapolated": False}
        if self.pooled:
            pool = self.pool()
            return out | ({"pool": pool, "reserved_bytes": self.reserved} if pool else {})
        if not self.known or self.up_front or self.still:
            return out
        safety = self.run.rules["headroom"]["safety"] * self.total
        out |= {"reserved_bytes": self.reserved, "safety_bytes": int(safety)}
        free = self.total - self.reserved - safety
        for i in self.bearing():
            self.lower(i, free)
        found = False
        for i in self.bearing():
            value = self.limits[i][0]
            need = self.need(i, value) if value is not None else None
            if not need:
                continue
            peak, reserve, extrapolated = need
            out["peak_bytes"] = max(out["peak_bytes"], peak)
            if int(reserve) >= out["reserve_bytes"]:
                out |= {"reserve_bytes": int(reserve), "reserve_extrapolated": extrapolated}
            found = True
        if found:
            out["available_bytes"] = int(free - out["peak_bytes"] - out["reserve_bytes"])
        return out

    def lower(self, i, free):
        """Takes a limit down to the highest rung that leaves something; what is not known lowers nothing."""
        value, bound = self.limits[i]
        if value is None:
            return
        for r in reversed([r for r in walks(self.run)[i].rungs if r["value"] <= value]):
            need = self.need(i, r["value"])
            if not need:
                return
            if free - need[0] - need[1] >= 0:
                self.limits[i] = (r["value"], "memory" if r["value"] < value else bound)
                return
        self.limits[i] = (None, "memory")

    def pool(self):
        """What stays free of a pool that the server took up front, by its own gauge; and how many requests it holds: the
        lesser of what its tokens give and of a line through the rungs below 0.9."""
        found = None
        for i in self.bearing():
            for r, g in zip(walks(self.run)[i].rungs, self.gauges[i]):
                usage = g.get("kv_usage_most")
                if r["value"] == self.limits[i][0] and usage is not None and (not found or usage > found["usage_most"]):
                    found = {"usage_most": usage, "free": max(0, 1 - usage), "readings": g["readings"]}
        if not found:
            return None
        found["tokens"] = self.run.value("select arg_max(value, t_s) from page where series = 'kv_tokens'")
        for w, gauges in zip(walks(self.run), self.gauges):
            if w.plan["axis"] != "concurrency" or "capacity" in found:
                continue
            points = []
            for r, g in zip(w.rungs, gauges):
                usage = g.get("kv_usage_most") or 0
                load = g["running_most"] if g.get("running_most") is not None else r["value"]
                if w.below_edge(r) and 0 < usage < 0.9 and (not points or load > points[-1][0]):
                    points.append((load, usage))
            holds, line = [], fit(self.run, points)
            if line and line["slope"] > 0:
                holds.append(math.floor(line["x"] + (1 - line["y"]) / line["slope"] + 1e-9))
            shape = w.plan["rungs"][0]["shape"]
            if found["tokens"]:
                holds.append(found["tokens"] // (shape["batch"] * (shape["input_tokens"] + shape.get("output_tokens", 0))))
            if holds:
                found["capacity"] = min(holds)
        return found

    def slopes(self):
        """How the peak over idle grows with the tokens in a batch."""
        out = []
        for w, peaks in zip(walks(self.run), self.peaks):
            if w.plan["axis"] not in ("batch", "input_tokens"):
                continue
            points = []
            for r, p in zip(w.rungs, peaks):
                tokens = r["shape"]["batch"] * r["shape"]["input_tokens"]
                if p and w.below_edge(r) and (not points or tokens > points[-1][0]):
                    points.append((tokens, p["over_idle_bytes"]))
            line = None if not self.known or self.up_front or self.still or w.plan["name"] in self.after_high_water else fit(self.run, points)
            out.append({
                "bytes_per_token": line["slope"], "least_bytes_per_token": line["least"], "most_bytes_per_token": line["most"],
                "from_tokens": points[0][0], "to_tokens": points[-1][0], "rungs": len(points),
            } if line else dict.fromkeys(("least_bytes_per_token", "most_bytes_per_token", "from_tokens", "to_tokens", "rungs"), 0))
        return out


@cache
def memory(run):
    """A run's memory, once for all checks."""
    return Memory(run)


def peaks(run):
    m = memory(run)
    return {"ladders": [{"after_high_water": w.plan["name"] in m.after_high_water, "rungs": [{"memory": p} if p else {} for p in peaks]}
                        for w, peaks in zip(walks(run), m.peaks)]}


def whole(run):
    m = memory(run)
    devices = run.value("select count(distinct device) from gpu")
    return {"memory": {"device": m.device["device"] if m.known else 0, "devices": devices, "total_bytes": m.total,
                       "preallocated": m.up_front, "headroom": m.head, "slopes": m.slopes()}}


def limits(run):
    return {"ladders": [{"limit": {"value": value, "bound": bound}} for value, bound in memory(run).limits]}
