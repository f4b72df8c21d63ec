"""What server, card and client showed while the rungs were measured."""

from functools import cache

from rungs import DONE, at, each_rung
from spans import latency

LOOKED = "ladder = $ladder and rung_index = $rung"


def metrics(run):
    return {"metrics": {"readings": run.value("select count(distinct t_s) from page")}}


@cache
def gauges(run):
    """The server's page in the windows of a rung."""
    return each_rung(run, lambda run, l, r: {"server": gauge(run, l, r)} if run.value("select count(*) from page") else {})


def gauge(run, l, r):
    out = run.one(f"""
      with seen as (select a.pass, a.round, a.attempt, p.* from looked a join page p on p.t_s between begin_s and end_s
        where {LOOKED} and end_s > begin_s)
      select (select count(*) from (select distinct pass, round, attempt, t_s from seen)) as readings,
        avg(value) filter (series = 'waiting') as waiting_mean, max(value) filter (series = 'waiting') as waiting_most,
        avg((value > 0)::int) filter (series = 'waiting') as waiting_share,
        avg(value) filter (series = 'running') as running_mean, max(value) filter (series = 'running') as running_most,
        max(value) filter (series = 'kv_usage') as kv_usage_most,
        max(value) filter (series = 'batch_size_top_share') as batch_at_cap_share
      from seen""", **at(l, r))
    # The counter around the rounds of each pass, from the last reading before the first send to the first after the last
    # end. A server that was started again counts from 0.
    out["preemptions"] = run.value(f"""
      with counter as (from page where series = 'preemptions'),
      spans as (select pass, min(first_send) as begin_s, max(last_end) as end_s from looked where {LOOKED} group by 1),
      around as (select s.pass, c.value, lag(c.value) over (partition by s.pass order by c.t_s) as before from spans s join counter c
        on c.t_s >= coalesce((select max(t_s) from counter where t_s <= s.begin_s), s.begin_s)
        and c.t_s <= coalesce((select min(t_s) from counter where t_s >= s.end_s), s.end_s))
      select sum(case when value >= before then value - before else value end) from around where before is not null""", **at(l, r))
    return out


def device(run):
    """The device with the least room, which card and memory are told of; without a card None."""
    every = run.all("""select device, max(mem_used_bytes / mem_total_bytes) as share, any_value(mem_total_bytes) as total
      from gpu group by 1 order by share desc, device""")
    return every[0] if every else None


@cache
def card(run):
    """The card in the windows of a rung. A sample tells of the time since the one before, so that it has to lie an interval
    behind a window's begin; windows with no more than a tenth of an interval between them are one."""
    if not device(run):
        return each_rung(run, lambda run, l, r: {})
    interval, d = run.manifest["gpu"]["interval_s"], device(run)["device"]
    limit = next((g.get("power_limit_w") for g in run.manifest["gpus"] if g["index"] == d), None)
    run.db.execute(f"""
      create or replace table card as
      with windows as (select *, max(end_s) over (partition by ladder, rung_index, pass order by begin_s rows between unbounded preceding
          and 1 preceding) as before from looked where end_s > begin_s),
      begun as (select *, count(*) filter (before is null or begin_s - before > {interval} / 10)
          over (partition by ladder, rung_index, pass order by begin_s) as nth from windows),
      joined as (select ladder, rung_index, pass, nth, min(begin_s) as begin_s, max(end_s) as end_s from begun group by all)
      select j.*, g.t_s, power_w, sm_clock_mhz, throttle_reasons & 232 as slowed, -- 232: slowed by the hardware, by heat, by the power supply
        case when (select max(util_gpu_pct) from gpu where device = {d}) > 0 then util_gpu_pct end as util
      from joined j join gpu g on g.device = {d} and g.t_s between j.begin_s + {interval} and j.end_s""")

    def part(run, l, r):
        out = run.one(f"""
          with seen as (select *, lag(util ignore nulls) over (partition by pass, nth order by t_s) as before from card where {LOOKED}),
          passes as (select median(sm_clock_mhz) as clock from seen group by pass having count(sm_clock_mhz) > 0)
          select count(*) as samples, avg(util) as util_mean_pct, avg((util <= 0)::int) as idle_share,
            count(*) filter (util <= 0 and before > 0) as falls_to_idle, avg(power_w) as power_mean_w, median(sm_clock_mhz) as sm_clock_mhz,
            (select case when count(*) > 1 then min(clock) / median(clock) end from passes) as sm_clock_least_pass,
            count(*) filter (slowed <> 0) as slowed_samples, coalesce(bit_or(slowed), 0) as slowdown_bits
          from seen""", **at(l, r))
        if out["power_mean_w"] and limit:
            out["power_of_limit"] = out["power_mean_w"] / limit
        return {"card": out} if out["samples"] else {}

    return each_rung(run, part)


@cache
def sender(run):
    """The client in the windows of a rung."""

    def part(run, l, r):
        of = f"rows r join looked a using (ladder, phase, rung_index, pass, round, attempt) where {LOOKED}"
        out = run.one(f"""
          select quantile_cont(t_s - due_t_s, 0.95) filter (t_s is not null and not reset_idle) as late_p95_s,
            median(latency_s) filter (outcome = 'ok') as median_s from {of}""", **at(l, r))
        median = out.pop("median_s")
        if median is None:
            out = {}
        elif out["late_p95_s"] is not None:
            out["late_share"] = out["late_p95_s"] / median
        out["in_flight"] = run.value(f"""select sum(busy_s) / sum(span_s)
          from flows join looked using (ladder, phase, rung_index, pass, round, attempt) where {LOOKED}""", **at(l, r))
        out["cpu_pct"] = run.value(f"""select avg(cpu_pct) from (from looked where {LOOKED} and end_s > begin_s) join client c
          on c.t_s between begin_s and end_s""", **at(l, r))
        return {"client": out}

    return each_rung(run, part)


def instrument(run):
    """The client over the whole run, and what it did beside measuring."""
    out = run.one("select count(*) as samples, max(cpu_pct) as max_cpu_pct, max(stall_s) as max_stall_s from client")
    out["reset_idle"] = run.value("select count(*) from rows where reset_idle")
    out["restarts"] = run.all("select t_s from events where kind = 'restart_begin' order by t_s")
    settles = run.all("""select ladder, count(*) as times, list_sort(list(distinct rung_value)) as "values" from events
      where kind = 'settle_end' and starts_with(reason, 'given up') group by 1 order by min(t_s)""")
    return {"client": out | {"settles_given_up": settles, "near_floor": near_floor(run)}}


def near_floor(run):
    """Rungs within a factor of two of what the client does by itself: by requests a second, or by P95 with as many in flight."""
    floor = run.manifest["client"].get("floor")
    if not floor:
        return []
    out = []
    for l in run.ladders:
        for r in l["rungs"]:
            per_s = run.value(f"select sum(done) / sum(span_s) from flows where phase = 'measure' and counts and {LOOKED}", **at(l, r)) or 0
            p95 = run.value(f"select quantile_cont(latency_s, 0.95) from rows where {DONE}", **at(l, r))
            alike = r["shape"]["in_flight"] == floor["in_flight"]
            if 2 * per_s >= floor["rate_per_s"] or alike and p95 is not None and p95 <= 2 * floor["p95_s"]:
                out.append({"ladder": l["name"], "value": r["value"]})
    return out


def baseline(run):
    """Single requests: what they take of time and of energy, and the memory of the model at rest."""
    b = run.cell["baseline"]
    done = "phase = 'baseline' and counted and outcome = 'ok'"
    out = {"latency": latency(run, f"select latency_s as s from rows where {done}")}
    l = out["latency"]
    out["p95_over_median"] = l["p95_s"] / l["median_s"]
    out["noisy"] = out["p95_over_median"] > run.rules["baseline_check"]["interference"]
    out |= run.one(f"""
      select 1000 * sum(latency_s) / (sum(input_tokens) + coalesce(sum(output_tokens), 0)) as s_per_1000_tokens,
        1000 * sum(latency_s) / nullif(sum(output_tokens), 0) as s_per_1000_completion_tokens
      from rows where {done}""")
    # Of each card from the first sample in the requests' time to the last, over the tokens that were answered between these.
    out["j_per_1000_tokens"] = run.value("""
      with span as (select min(t_s) as begin_s, max(done_t_s) as end_s from rows where phase = 'baseline'),
      cards as (select arg_max(energy_j, t_s) - arg_min(energy_j, t_s) as joules, min(t_s) as first_s, max(t_s) as last_s
        from gpu, span where energy_j is not null and t_s between begin_s and end_s group by device having count(distinct t_s) > 1),
      used as (select sum(joules) as joules, min(first_s) as first_s, max(last_s) as last_s from cards)
      select 1000 * any_value(joules) / sum(input_tokens + coalesce(output_tokens, 0)) from rows, used
      where phase = 'baseline' and outcome = 'ok' and done_t_s between first_s and last_s""")
    named = lambda where: run.all(f"select outcome as name, count(*) as n from rows where failed and {where} group by 1 order by 1")
    out["failures"] = named("phase = 'baseline'")
    out["warmup_failures"] = named("phase = 'warmup' and ladder = ''")
    out["refused"] = run.all("""select count(*) as attempts from (select any_value(split_part(reject_reason, ':', 1)) as kind from rows
      where phase = 'baseline' group by round, attempt having not bool_or(counted)) group by kind order by 1 desc""")
    return {"baseline": out | idle(run)}


def idle(run):
    """The median of the idle time or, where that is less, the reading before the first request."""
    if not device(run):
        return {"idle_samples": 0}
    idle = run.one("""
      with span as (select min(t_s) filter (kind = 'idle_begin') as begin_s, min(t_s) filter (kind = 'idle_end') as end_s from events)
      select quantile_cont(mem_used_bytes, 0.5)::bigint as bytes, count(mem_used_bytes) as samples,
        (select arg_min(mem_used_bytes, t_s) from gpu, span where device = $device and phase = 'probe' and t_s <= begin_s) as before
      from gpu, span where device = $device and t_s between begin_s and end_s""", device=device(run)["device"])
    if idle["before"] is not None and idle["before"] < idle["bytes"]:
        return {"idle_bytes": idle["before"], "idle_probed_bytes": idle["bytes"], "idle_samples": idle["samples"]}
    return {"idle_bytes": idle["bytes"], "idle_samples": idle["samples"]}
