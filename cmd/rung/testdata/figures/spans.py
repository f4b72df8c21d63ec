"""Spans of requests summed up, and what can be said of shares: percentiles and intervals."""

import math
import re

from run import OUTCOMES

# A figure in a text; those of names (P95, g16) are none.
FIGURE = re.compile(r"0x[0-9a-f]+|(?<![A-Za-z\d.])\d+(?:\.\d+)?(?:e[-+]\d+)?")

LEVEL = 0.95


def log_binomial(n, i, q):
    return math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(q) + (n - i) * math.log1p(-q)


class Either(tuple):
    """Figures of which any is right."""


class Says(list):
    """The figures of a sentence, in order: each is held to the digits that it shows."""


def by_ranks(rising, q):
    """The interval of a quantile by the fewest neighbouring ranks l to u for which
    P(x_l <= quantile <= x_u) = sum over i from l to u-1 of C(n,i) q^i (1-q)^(n-i) reaches 95 %:
    of as few the likeliest. About a median two can be as likely."""
    n = len(rising)
    total = [0.0]  # total[i] is the sum of the terms 1 to i
    for i in range(1, n):
        total.append(total[-1] + math.exp(log_binomial(n, i, q)))
    if total[-1] < LEVEL:
        return None
    width = next(w for w in range(1, n) if max(total[l + w - 1] - total[l - 1] for l in range(1, n - w + 1)) >= LEVEL)
    held = {l: total[l + width - 1] - total[l - 1] for l in range(1, n - width + 1)}
    best = [l for l in held if held[l] > max(held.values()) - 1e-12]
    return {"low": Either(rising[l - 1] for l in best), "high": Either(rising[l + width - 1] for l in best)}


def supported(n, q):
    """Whether n values have any interval of 95 % of the quantile q."""
    return 1 - q**n - (1 - q) ** n >= LEVEL


def latency(run, sql, **args):
    """Spans (the query's column s, in seconds) as the report sums them up."""
    row = run.one(f"""
      select count(*) as n, min(s) as min_s, quantile_cont(s, 0.5) as median_s, avg(s) as mean_s,
        quantile_cont(s, 0.95) as p95_s, quantile_cont(s, 0.99) as p99_s, max(s) as max_s, list(s order by s) as rising
      from ({sql})""", **args)
    rising = row.pop("rising")
    if not rising:
        return None
    return row | {
        "p95_supported": supported(row["n"], 0.95), "p99_supported": supported(row["n"], 0.99),
        "median_interval": by_ranks(rising, 0.5), "p95_interval": by_ranks(rising, 0.95), "p99_interval": by_ranks(rising, 0.99),
    }


def failure_rate(failed, n):
    """Clopper and Pearson's interval, from the tails of the binomial distribution itself."""
    if n == 0:
        return None

    def tail(p, least, most):  # P(least <= X <= most)
        return math.fsum(math.exp(log_binomial(n, i, p)) for i in range(least, most + 1))

    def root(rises):  # where rises(p) passes 0 between 0 and 1
        low, high = 0.0, 1.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if rises(middle) < 0 else (low, middle)
        return low

    half = (1 - LEVEL) / 2
    if failed == 0:  # all of the 5 % on one side
        low, high = 0.0, 1 - 0.05 ** (1 / n)
    elif failed == n:
        low, high = 0.05 ** (1 / n), 1.0
    else:
        low = root(lambda p: tail(p, failed, n) - half)
        high = root(lambda p: half - tail(p, 0, failed))
    return {"n": n, "failed": failed, "observed": failed / n, "low": low, "high": high}


def tally(run, where, **args):
    """What became of requests: how many, and the failures by their names."""
    total = run.value(f"select count(*) from rows where asked and {where}", **args)
    named = run.all(f"select outcome as name, count(*) as n from rows where failed and {where} group by 1", **args)
    named.sort(key=lambda f: OUTCOMES.index(f["name"]))
    return total, named
