"""What the page's pictures show: histograms of the rungs, and the run over its time."""

import math

from machine import device
from rungs import DONE, at, walked

BINS, BUCKETS, INSTANTS = 40, 300, 20


def pictures(run):
    return {"histograms": [histogram(run, l) for l in run.ladders], "timeline": timeline(run)}


def histogram(run, l):
    """Counted latencies in 40 bins, even in their logarithm, from the least of the ladder to the greatest."""
    reach = run.one("""select min(latency_s) as low, max(latency_s) as high from rows
      where phase = 'measure' and counted and outcome = 'ok' and ladder = $ladder""", ladder=l["name"])
    if reach["low"] is None or reach["low"] == reach["high"]:
        return None
    start, step = math.log(reach["low"]), math.log(reach["high"] / reach["low"]) / BINS
    rungs = []
    for r in walked(run, l)[0]:
        bins = run.all(f"""
          select least(greatest(trunc((ln(latency_s) - {start!r}) / {step!r}), 0), {BINS - 1})::int as bin, count(*) as n
          from rows where {DONE} group by 1""", **at(l, r))
        rungs.append([sum(b["n"] for b in bins if b["bin"] == i) for i in range(BINS)])
    return {"BoundsS": [math.exp(start + i * step) for i in range(BINS + 1)], "Rungs": rungs}


def timeline(run):
    """The run in 300 buckets of time: of each series the least and the greatest value in each."""
    reach = run.one("""select min(t) as low, max(t) as high from (
      select t_s as t from events union all select t_s from rows where t_s is not null
      union all select done_t_s from rows where t_s is not null)""")
    begin, width = reach["low"], (reach["high"] - reach["low"]) / BUCKETS
    bucket = f"least(trunc((t_s - {begin!r}) / {width!r}), {BUCKETS - 1})::int"
    inside = f"t_s >= {begin!r} and trunc((t_s - {begin!r}) / {width!r}) <= {BUCKETS}"

    def series(name, unit, values):
        rows = {r["bucket"]: r for r in run.all(f"""
          select {bucket} as bucket, min(v) as low, max(v) as high from ({values}) where v is not null and {inside} group by 1""")}
        if not any(r["high"] > 0 for r in rows.values()):
            return []
        of = lambda key: [rows[i][key] if i in rows else None for i in range(BUCKETS)]
        return [{"Name": name, "Unit": unit, "Low": of("low"), "High": of("high")}]

    card = device(run)
    gpu = f"from gpu where device = {card['device'] if card else -1}"
    # Requests in flight at twenty instants of each bucket.
    step = width / INSTANTS
    in_flight = f"""
      select {begin!r} + (i + 0.5) * {step!r} as t_s, count(r.t_s) as v
      from range({BUCKETS * INSTANTS}) instants(i) left join rows r
        on ceil((r.t_s - {begin!r}) / {step!r}) <= i and i < ceil((r.done_t_s - {begin!r}) / {step!r})
      group by i"""
    page = lambda name, factor=1: f"select t_s, {factor} * value as v from page where series = '{name}'"
    failed = run.all(f"""
      with ends as (select greatest(done_t_s, due_t_s) as t_s from rows where failed)
      select {bucket} as bucket, count(*) as n from ends where {inside} group by 1""")
    return {
        "BeginS": begin, "BucketS": width,
        "Series": series("memory", "bytes", f"select t_s, mem_used_bytes::double as v {gpu}")
        + series("utilisation", "%", f"select t_s, util_gpu_pct as v {gpu}")
        + series("SM clock", "MHz", f"select t_s, sm_clock_mhz as v {gpu}")
        + series("in flight", "requests", in_flight)
        + series("running", "requests", page("running"))
        + series("waiting", "requests", page("waiting"))
        + series("pool", "%", page("kv_usage", 100)),
        "Failures": [sum(f["n"] for f in failed if f["bucket"] == i) for i in range(BUCKETS)] if failed else None,
        "Spans": run.all("""
          select coalesce(b.ladder, '') as Ladder, case when b.kind = 'phase_begin' then b.phase else '' end as Phase,
            coalesce(b.rung_value, 0) as Value, coalesce(b.pass, 0) as Pass, b.t_s as Begin, min(e.t_s) as End
          from events b join events e on e.kind = replace(b.kind, 'begin', 'end') and e.t_s > b.t_s
            and e.ladder is not distinct from b.ladder and e.phase is not distinct from b.phase
            and e.pass is not distinct from b.pass and e.rung_index is not distinct from b.rung_index
          where b.kind in ('rung_begin', 'phase_begin')
          group by b.t_s, b.kind, b.ladder, b.phase, b.rung_value, b.pass, b.rung_index order by b.t_s"""),
    }
