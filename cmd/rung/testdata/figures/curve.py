"""Where a ladder bends: the knee by each rule, how sure it is, what explains it, and the limit that follows."""

import itertools
import math
import statistics
from collections import Counter
from functools import cache

from ends import walks

RULES = ("power", "half_increment", "gain_and_p95")


class Curve:
    """What a knee rule looks at: loads, and of each pass throughputs and P95s; with one pass the rates of its rounds."""

    def __init__(self, load, passes, rounds, base, rules):
        self.load, self.passes, self.rounds, self.base, self.rules = load, passes, rounds, base, rules

    def resampled(self, picked):
        return Curve(self.load, [self.passes[p] for p in picked], self.rounds, self.base, self.rules)

    def x(self, i):
        return [xs[i] for xs, _ in self.passes]

    def p95(self, i):
        return statistics.median(p[i] for _, p in self.passes)

    def rises(self, i):
        return self.p95(i + 1) > self.rules["p95_rise"] * self.p95(i)

    def made_good(self, b):
        """Some later rung has gained on b after all."""
        mean = [statistics.fmean(self.x(i)) for i in range(len(self.load))]
        return any(math.log(mean[j] / mean[b]) / math.log(self.load[j] / self.load[b]) >= 0.5 for j in range(b + 1, len(mean)))

    def step(self, i, relative):
        """What rung i brings over the one below, and its standard error: over passes, else over the rounds of both rungs."""
        if len(self.passes) > 1:
            each = [b / a - 1 if relative else b - a for a, b in zip(self.x(i - 1), self.x(i))]
            return statistics.fmean(each), error(each)
        (a,), (b,) = self.x(i - 1), self.x(i)
        ea, eb = error(self.rounds[i - 1]), error(self.rounds[i])
        return (b / a - 1, b / a * math.hypot(ea / a, eb / b)) if relative else (b - a, math.hypot(ea, eb))

    # Each rule answers with the kind of answer and the index of the best rung, and the dips that were made good.

    def power(self):
        score = []
        for i, n in enumerate(self.load):
            centred = [math.log(xs[i]) - statistics.median(map(math.log, xs)) for xs, _ in self.passes]
            score.append(statistics.median(centred) / self.rules["elasticity"] - math.log(n))
        t = score.index(max(score))
        if t == len(score) - 1:
            return "not_reached", t, []
        if not self.rises(t):
            return "inconsistent", t, []
        return found(next(i for i, s in enumerate(score) if s >= score[t] + math.log(1 - self.rules["tie"])), [])

    def half_increment(self):
        dips = []
        for i in range(1, len(self.load)):
            d, se = self.step(i, False)
            falls = d < self.rules["flat"] * statistics.fmean(self.x(i - 1))
            if i > 1:
                before, se_before = self.step(i - 1, False)
                factor = self.rules["factor"]
                falls = falls or factor * before - d > 2 * math.hypot(se, factor * se_before)
            if not falls:
                continue
            if self.made_good(i - 1):
                dips.append(i)
            elif not self.rises(i - 1):
                return "inconsistent", i - 1, dips
            else:
                return found(i - 1, dips)
        return "not_reached", len(self.load) - 1, dips

    def gain_and_p95(self):
        dips, flattened = [], None
        for i in range(1, len(self.load)):
            d, se = self.step(i, True)
            before, se_before = (self.load[1] / self.load[0] - 1, 0) if i == 1 else self.step(i - 1, True)
            gain = self.rules["gain"]
            if not (d < self.rules["flat"] or gain * before - d > 2 * math.hypot(se, gain * se_before)):
                continue
            if self.made_good(i - 1):
                dips.append(i)
            elif self.p95(i) > self.rules["p95_over_baseline"] * self.base:
                return found(i - 1, dips)
            elif flattened is None and d < self.rules["flat"] and not self.rises(i - 1):
                flattened = i - 1
        if flattened is not None:
            return "inconsistent", flattened, dips
        return "not_reached", len(self.load) - 1, dips

    def answer(self, rule):
        kind, best, dips = getattr(self, rule)()
        named = {"not_reached": f"at least {self.load[best]:g}", "inconsistent": "inconsistent"}.get(kind, f"{self.load[best]:g}")
        return kind, best, dips, named


def found(best, dips):
    return "found" if best else "at_or_below_first", best, dips


def error(values):
    """The standard error of the mean; nothing is known of a spread from one value."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def shares(curve, rule):
    """The weights of the answers over all draws of as many passes, one as likely as the other."""
    n = len(curve.passes)
    weight = Counter()
    for picked in itertools.combinations_with_replacement(range(n), n):
        orders = math.factorial(n) / math.prod(math.factorial(m) for m in Counter(picked).values())
        weight[curve.resampled(picked).answer(rule)[3]] += orders / n**n
    return sorted(weight.items(), key=lambda a: (-round(a[1], 12), a[0]))


def whole_passes(w):
    """Throughput and P95 of each pass in which every usable rung was measured."""
    out = []
    for p in range(len(w.plan["passes"])):
        xs = [s["throughput_by_pass"][p] for _, s in w.usable]
        p95 = [s["p95_by_pass_s"][p] for _, s in w.usable]
        if w.usable and None not in xs + p95:
            out.append((xs, p95))
    return out


@cache
def bends(run):
    return {"ladders": [bend(run, w) for w in walks(run)]}


def bend(run, w):
    whole = whole_passes(w)
    if not w.kneed:
        return {"passes_complete": len(whole), "knee": {"passes": 0, "answer": "none"}}
    if len(w.usable) < 3:
        return {"passes_complete": 0, "knee": {"passes": 0, "answer": "none"}}
    passes = whole or [([s["throughput"] for _, s in w.usable], [s["latency"]["p95_s"] for _, s in w.usable])]
    rounds = [run.values("""select work / span_s from flows where phase = 'measure' and counts and work > 0
      and ladder = $ladder and rung_index = $rung""", ladder=w.plan["name"], rung=r["index"]) for r, _ in w.usable]
    curve = Curve([r["value"] for r, _ in w.usable], passes, rounds, w.base()["p95_s"], run.rules["knee"])
    kind, best, dips, named = curve.answer(run.rules["knee"]["rule"])
    knee = {"passes": len(passes), "answer": kind, "irregular": [curve.load[i] for i in dips], "rule": run.rules["knee"]["rule"]}
    if kind in ("found", "at_or_below_first"):
        knee |= {"best": curve.load[best], "knee": curve.load[best + 1]}
    elif kind == "not_reached":
        knee["at_least"] = curve.load[best]
    if len(passes) >= 3:
        weights = shares(curve, knee["rule"])
        knee["share"] = dict(weights)[named]
        knee["others"] = [{"answer": a, "share": s} for a, s in weights if a != named]
        held = list(itertools.accumulate(s for _, s in weights))
        knee["set"] = [a for (a, s), h in zip(weights, held) if h - s < 0.90]
    knee["beside"] = beside(w, curve, knee["rule"])
    return {"passes_complete": len(whole), "knee": knee}


def beside(w, curve, declared):
    """What the other rules say, N* and the USL: as explanation."""
    x = [statistics.median(curve.x(i)) for i in range(len(curve.load))]
    out = {"rules": [{"rule": r, "answer": curve.answer(r)[0]} for r in RULES if r != declared], "usl": usl(curve.load, x)}
    if w.plan["axis"] == "concurrency" and curve.load[0] == 1:
        out["n_star"] = max(x) / x[0]
    return out


def usl(load, x):
    """X = λN/(1 + σ(N-1) + κN(N-1)) by least squares of N/X relative to it, none of the three below 0: the best of the fits
    in which σ, κ, both or neither are 0. A fit is a projection: columns are made orthogonal one after the other."""
    if len(load) < 4:
        return None
    fits = []
    for use in ((0, 1, 2), (0, 1), (0, 2), (0,)):
        y = [n / v for n, v in zip(load, x)]
        columns = [[(1, n - 1, n * (n - 1))[k] / t for n, t in zip(load, y)] for k in use]
        coefficients = project(columns, [1.0] * len(load))
        p = [0.0, 0.0, 0.0]
        for k, c in zip(use, coefficients):
            p[k] = c
        if p[0] <= 0 or min(p) < 0:
            continue
        fit = {"lambda": 1 / p[0], "sigma": p[1] / p[0], "kappa": p[2] / p[0]}
        law = [fit["lambda"] * n / (1 + fit["sigma"] * (n - 1) + fit["kappa"] * n * (n - 1)) for n in load]
        fit["error"] = math.sqrt(statistics.fmean((a / b - 1) ** 2 for a, b in zip(law, x)))
        fits.append(fit)
    best = min(fits, key=lambda f: f["error"], default=None)
    if best and best["kappa"] > 0 and best["sigma"] < 1:
        best["peak_at"] = math.sqrt((1 - best["sigma"]) / best["kappa"])
    return best


def project(columns, y):
    """The coefficients of the least squares of y on columns, by Gram and Schmidt's orthogonal columns."""
    dot = lambda a, b: math.fsum(p * q for p, q in zip(a, b))
    k = len(columns)
    basis, r = [], [[0.0] * k for _ in range(k)]
    for j, c in enumerate(columns):
        c = list(c)
        for _ in range(2):  # once more, for what rounding has left
            for i, b in enumerate(basis):
                part = dot(b, c) / dot(b, b)
                r[i][j] += part
                c = [u - part * v for u, v in zip(c, b)]
        r[j][j] = 1.0
        basis.append(c)
    z = [dot(b, y) / dot(b, b) for b in basis]
    out = [0.0] * k
    for i in reversed(range(k)):
        out[i] = z[i] - sum(r[i][j] * out[j] for j in range(i + 1, k))
    return out


def slopes_of_latency(run):
    """How the median latency grows with the tokens, along ladders of lengths."""
    out = []
    for w in walks(run):
        points = []
        for r, s in zip(w.rungs, w.shown):
            if w.plan["axis"] not in ("input_tokens", "output_tokens") or not w.below_edge(r) or not s["latency"]:
                continue
            tokens = r["value"]
            if w.plan["axis"] == "output_tokens":
                tokens = run.value("""select coalesce(avg(output_tokens), $value) from rows where phase = 'measure' and counted and outcome = 'ok'
                  and ladder = $ladder and rung_index = $rung""", value=tokens, ladder=w.plan["name"], rung=r["index"])
            if not points or tokens > points[-1][0]:
                points.append((tokens, s["latency"]["median_s"]))
        line = fit(run, points)
        out.append({"latency_slope": {
            "s_per_1000_tokens": 1000 * line["slope"], "least_s": 1000 * line["least"], "most_s": 1000 * line["most"],
            "from_tokens": points[0][0], "to_tokens": points[-1][0], "rungs": len(points),
        }} if line else {})
    return {"ladders": out}


def fit(run, points):
    """A line by least squares, and the least and the greatest slope between neighbours; None of fewer than two points."""
    if len(points) < 2:
        return None
    values = ", ".join(f"({float(x)!r}::double, {float(y)!r}::double)" for x, y in points)
    return run.one(f"""
      select regr_slope(y, x) as slope, min(step) as least, max(step) as most, avg(x) as x, avg(y) as y
      from (select x, y, (y - lag(y) over (order by x)) / (x - lag(x) over (order by x)) as step from (values {values}) points(x, y))""")


def equal_throughput(run):
    """A batch ladder against a concurrency ladder of the same inputs: interpolated between two rungs, never beyond."""
    out = []
    for a, b in itertools.product(walks(run), walks(run)):
        if (a.plan["axis"], b.plan["axis"]) != ("batch", "concurrency") or a.plan["prompt"]["name"] != b.plan["prompt"]["name"]:
            continue
        if any(a.plan["rungs"][0]["shape"].get(k) != b.plan["rungs"][0]["shape"].get(k) for k in ("input_tokens", "output_tokens")):
            continue
        rows = []
        for r, s in a.usable:
            x, l = s["throughput"], s["latency"]
            row = {"throughput": x, "batch": r["value"], "batch_median_s": l["median_s"], "batch_p95_s": l["p95_s"]}
            for (r0, s0), (r1, s1) in zip(b.usable, b.usable[1:]):
                x0, x1 = s0["throughput"], s1["throughput"]
                if x0 <= x <= x1 and x0 < x1:
                    on = lambda y0, y1: y0 + (x - x0) / (x1 - x0) * (y1 - y0)
                    row |= {"concurrency": on(r0["value"], r1["value"])} | {
                        f"concurrency_{k}": on(s0["latency"][k], s1["latency"][k]) for k in ("median_s", "p95_s")}
                    break
            rows.append(row)
        if any("concurrency" in row for row in rows):
            out.append({"rows": rows})
    return {"equal_throughput": out}
