"""What the requests of each rung show: latency, failures, throughput, streams, answers, goodput."""

import math
from functools import cache

from run import OUTCOMES, seconds
from spans import failure_rate, latency, supported, tally

# Rows of a rung that a figure rests on.
MEASURED = "phase = 'measure' and ladder = $ladder and rung_index = $rung"
COUNTED = f"{MEASURED} and counted"
DONE = f"{COUNTED} and outcome = 'ok'"

FLOW = """select sum({work}) / sum(span_s) as rate, sum(busy_s) / sum(span_s) as in_flight, sum({work}) as work, sum(span_s) as span
  from flows where phase = 'measure' and counts and ladder = $ladder and rung_index = $rung"""


def header(run):
    counts = run.one("""select count(*) as requests, count(*) filter (counted) as counted,
        count(*) filter (failed) as failed from rows""")
    counts |= run.one("""select (select count(*) from gpu) as samples, (select count(*) from events) as events,
      (select count(*) from server) as server""")
    return {"run": {"counts": counts}}


def walked(run, ladder):
    """The planned rungs of which there is a request beside warm-ups, and the values of the others."""
    have = set(run.values("select distinct rung_index from rows where ladder = $ladder and phase in ('measure', 'confirm')",
                          ladder=ladder["name"]))
    return ([r for r in ladder["rungs"] if r["index"] in have], [r["value"] for r in ladder["rungs"] if r["index"] not in have])


def each_rung(run, part):
    """A report's ladders with what part(run, ladder, rung) gives of each rung that was walked."""
    return {"ladders": [{"rungs": [part(run, l, r) for r in walked(run, l)[0]]} for l in run.ladders]}


def at(ladder, rung):
    return {"ladder": ladder["name"], "rung": rung["index"]}


def planned(run):
    out = each_rung(run, lambda run, l, r: {"index": r["index"], "value": r["value"], "shape": r["shape"]})
    for l, shown in zip(run.ladders, out["ladders"]):
        shown |= {"name": l["name"], "passes_planned": len(l["passes"]), "not_walked": walked(run, l)[1]}
    return out


def queries(run):
    """The report's own queries, as they stand in it: their n and P95 are those of its rungs."""
    out = []
    for l in run.report["ladders"]:
        have = {row["rung_value"]: row for row in run.all(l["query"])}
        out.append({"rungs": [{"latency": {"n": row["n"], "p95_s": row["p95_s"]}} if (row := have.get(r["value"])) else {} for r in l["rungs"]]})
    return {"ladders": out}


@cache
def latencies(run):
    def part(run, l, r):
        p95 = {row["pass"]: row["p95"] for row in run.all(
            f"select pass, quantile_cont(latency_s, 0.95) as p95 from rows where {DONE} group by 1", **at(l, r))}
        total = latency(run, f"select latency_s as s from rows where {DONE}", **at(l, r))
        out = {"latency": total, "p95_by_pass_s": [p95.get(p["index"]) for p in l["passes"]]}
        if total and l["axis"] == "batch":
            out["inputs_per_p50"] = r["shape"]["batch"] / total["median_s"]
        return out

    return each_rung(run, part)


def failures(run):
    def part(run, l, r):
        total, named = tally(run, MEASURED, **at(l, r))
        failed = sum(f["n"] for f in named)
        refused = run.value(f"select count(*) from rows where failed and {MEASURED} and not counted", **at(l, r))
        return {"sent": total, "failures": named, "failure_rate": failure_rate(failed, total), "failed_in_refused_rounds": refused}

    return each_rung(run, part)


def refusals(run):
    return each_rung(run, refused)


def refused(run, l, r):
    """Attempts that do not count by the kind of their reason: what stands before its colon, whatever its figures."""
    kinds = run.all(f"""
      select regexp_replace(split_part(reason, ':', 1), '[0-9]+([.][0-9]+)?', '#', 'g') as kind, count(*) as attempts
      from (select any_value(reject_reason) as reason from rows where {MEASURED}
            group by pass, round, attempt having not bool_or(counted))
      group by 1 order by 2 desc, 1""", **at(l, r))
    lost = run.value(f"""select count(*) from (select 1 from rows where {MEASURED}
      group by pass, round having not bool_or(counted))""", **at(l, r))
    return {
        "refused": [{"attempts": k["attempts"]} for k in kinds], "lost_rounds": lost,
        "client_limited": lost > 0 and bool(kinds) and kinds[0]["kind"].startswith("client_limited"),
    }


def throughput(run):
    out = each_rung(run, rates)
    for l, shown in zip(run.ladders, out["ladders"]):
        shown["throughput_unit"] = run.value("select unit from worths where ladder = $ladder", ladder=l["name"])
    return out


def rates(run, l, r):
    whole = run.one(FLOW.format(work="work"), **at(l, r))
    by_pass = {row["pass"]: row["rate"] for row in run.all(
        FLOW.format(work="work").replace("select ", "select pass, ", 1) + " group by pass having sum(work) > 0", **at(l, r))}
    return {
        "throughput": whole["rate"] or None, "mean_in_flight": whole["in_flight"],
        "throughput_by_pass": [by_pass.get(p["index"]) for p in l["passes"]],
    }


def increments(run):
    """What a rung brings over the one below it, along axes where a rung asks more of the same work."""
    out = []
    for l in run.ladders:
        shown, below, before = [], None, None
        for r in walked(run, l)[0]:
            here = None if fails(run, l, r) else rates(run, l, r)["throughput"]
            if l["axis"] in ("batch", "concurrency") and here and below:
                inc = {"absolute": here - below, "relative": here / below - 1}
                if before and before > 0:
                    inc["over_before"] = inc["absolute"] / before
                before = inc["absolute"]
                shown.append({"increment": inc})
            else:
                before = None
                shown.append({})
            below = here
        out.append({"rungs": shown})
    return {"ladders": out}


def fails(run, l, r):
    """Whether a rung fails by the stop rule over all its measured requests."""
    total, named = tally(run, MEASURED, **at(l, r))
    failed = sum(f["n"] for f in named)
    return any(f["name"] in l["stop"].get("outcomes", []) for f in named) or (
        failed >= 2 and failed > l["stop"]["failure_ratio"] * total)


@cache
def open_loop(run):
    """Rates: what came due, what was answered in its time, and whether more and more was in flight."""

    def part(run, l, r):
        if l["axis"] != "rate":
            return {}
        due = run.one(f"""select count(*) filter (asked) as arrivals, count(*) filter (asked and outcome = 'dropped') as dropped,
          quantile_cont(t_s - due_t_s, 0.95) filter (asked and t_s is not null) as late_p95_s
          from rows where {COUNTED}""", **at(l, r))
        if not due["arrivals"]:
            return {}
        flow = run.one("""select sum(done) / sum(span_s) as done, sum(span_s) as span from flows
          where phase = 'measure' and counts and ladder = $ladder and rung_index = $rung""", **at(l, r))
        growth = run.value("""
          with thirds as (
            select a.pass, a.round, a.attempt, (end_s - begin_s) / 3 as third,
              sum(greatest(0, least(done_t_s, end_s) - greatest(t_s, begin_s))) / (end_s - begin_s) as mean,
              sum(greatest(0, least(done_t_s, begin_s + third) - greatest(t_s, begin_s))) / third as first,
              sum(greatest(0, least(done_t_s, end_s) - greatest(t_s, end_s - third))) / third as last
            from attempts a join rows r using (ladder, phase, rung_index, pass, round, attempt)
            where phase = 'measure' and counts and ladder = $ladder and rung_index = $rung and r.t_s is not null
            group by a.pass, a.round, a.attempt, begin_s, end_s)
          -- the means of two thirds lie two thirds of the window apart
          select avg(1.5 * (last - first) / mean) from thirds where mean > 0""", **at(l, r))
        offered, ratio = due["arrivals"] / flow["span"], flow["done"] / (due["arrivals"] / flow["span"])
        still = growth is not None and growth <= 0.5 and due["dropped"] == 0
        return {"open_loop": due | {
            "offered_per_s": offered, "achieved_per_s": flow["done"], "achieved_over_offered": ratio, "in_flight_growth": growth,
            "few": due["arrivals"] * 0.02 < 1, "saturated": ratio < 0.98 and not still,
        }}

    return each_rung(run, part)


@cache
def streams(run):
    """First tokens, tokens after the first and gaps between chunks. The gaps of one answer hang together, so that
    there are no intervals of them, and a percentile is held by as many values as there are answers."""

    def part(run, l, r):
        gaps = latency(run, f"select s from (select unnest(chunk_gap_s) as s from rows where {DONE})", **at(l, r))
        stream = {
            "ttft": latency(run, f"select ttft_s as s from rows where {DONE} and ttft_s is not null", **at(l, r)),
            "tpot": latency(run, f"select tpot_s as s from rows where {DONE} and tpot_s is not null", **at(l, r)),
            "without_first_token": run.value(f"select count(*) from rows where {DONE} and ttft_s is null", **at(l, r)),
        }
        if gaps:
            answers = run.value(f"select count(*) from rows where {DONE} and len(chunk_gap_s) > 0", **at(l, r))
            gaps |= {"answers": answers, "p95_supported": supported(answers, 0.95), "p99_supported": supported(answers, 0.99)}
            stream["chunk_gaps"] = {k: v for k, v in gaps.items() if not k.endswith("interval")}
        return {"stream": stream} if stream["ttft"] or gaps else {}

    return each_rung(run, part)


def answers(run):
    """How long the answers were, and how they ended."""

    def part(run, l, r):
        out = {}
        lengths = run.one(f"""select count(*) as n, min(output_tokens) as min, max(output_tokens) as max, avg(output_tokens) as mean,
          max(output_tokens_planned) as planned, count(*) filter (output_tokens < output_tokens_planned) as short
          from rows where {DONE} and output_tokens is not null and output_tokens_planned is not null""", **at(l, r))
        if lengths["n"]:
            out["output"] = lengths
        if run.generates:
            ends = run.one(f"select count(*) as n, count(*) filter (output_tokens is null) as without_usage from rows where {DONE}", **at(l, r))
            reasons = run.all(f"""select coalesce(finish_reason, '') as name, count(*) as n from rows where {DONE}
              group by 1 order by 2 desc, 1""", **at(l, r))
            if ends["n"]:
                out["answers"] = ends | {"finish_reasons": reasons}
        return out

    return each_rung(run, part)


def goodput(run):
    """Requests of the rounds that count which met all declared parts; below two tokens TPOT asks nothing."""
    slo = run.plan.get("slo")
    if not slo:
        return {}
    parts = [f"latency_s <= {seconds(slo['latency'])!r}"] if "latency" in slo else []
    if "ttft" in slo:
        parts.append(f"ttft_s <= {seconds(slo['ttft'])!r}")
    if "tpot" in slo:
        parts.append(f"(output_tokens < 2 or tpot_s <= {seconds(slo['tpot'])!r})")
    good = "outcome = 'ok' and " + " and ".join(parts)

    def part(run, l, r):
        out = run.one(f"select count(*) filter (asked) as of, count(*) filter ({good}) as good from rows where {COUNTED}", **at(l, r))
        if not out["of"]:
            return {}
        per_s = run.value(f"""
          with spans as (select sum(span_s) as span from flows
            where phase = 'measure' and counts and ladder = $ladder and rung_index = $rung)
          select count(*) filter ({good} and done_t_s <= end_s) / any_value(span) from spans,
            attempts a join rows r using (ladder, phase, rung_index, pass, round, attempt)
          where phase = 'measure' and counts and ladder = $ladder and rung_index = $rung and end_s > begin_s""", **at(l, r))
        return {"goodput": out | {"share": out["good"] / out["of"], "per_s": per_s}}

    return each_rung(run, part)


def cache(run):
    """Prompt tokens that the server took from its cache. Expected are those of the chat's template, in whole blocks."""
    template = math.ceil(run.manifest["server"].get("template_extra", 0) / 16) * 16
    out = []
    for l in run.ladders:
        done = "phase = 'measure' and counted and outcome = 'ok' and ladder = $ladder"
        rungs = run.all(f"""
          select rung_value as value, sum(coalesce(input_tokens, input_tokens_planned)) as prompt, coalesce(sum(cached_tokens), 0) as cached,
            coalesce(bool_and(coalesce(cached_tokens, 0) <= {template} * greatest(inputs, 1)), true) as expected
          from rows where {done} group by 1 order by 1""", ladder=l["name"])
        prompt, cached = sum(r["prompt"] for r in rungs), sum(r["cached"] for r in rungs)
        if not cached:
            out.append({})
            continue
        most = max(rungs, key=lambda r: r["cached"] / r["prompt"])
        out.append({"cache": {
            "prompt_tokens": int(prompt), "cached_tokens": int(cached), "share": float(cached / prompt),
            "most": float(most["cached"] / most["prompt"]), "most_at": most["value"], "expected": all(r["expected"] for r in rungs),
        }})
    return {"ladders": out}


def named_failures(run):
    """Failures of a ladder by what they were: warm-ups, words of the server, timeouts by length, limits that were met."""
    out = []
    for l in run.ladders:
        args = {"ladder": l["name"]}
        of = "ladder = $ladder and phase in ('measure', 'confirm', 'warmup')"
        warm = []
        for r in l["rungs"]:
            total, named = tally(run, "phase = 'warmup' and ladder = $ladder and rung_index = $rung", rung=r["index"], **args)
            if named:
                stops = any(f["name"] in l["stop"].get("outcomes", []) for f in named)
                warm.append({"value": r["value"], "sent": total, "failures": named, "stops": stops})
        # The first is of the round that was sent first.
        errors = run.all(f"""
          select outcome as name, count(*) as n, arg_min(rung_value, (begin_s, request_index)) as value,
            arg_min(phase, (begin_s, request_index)) as phase, arg_min(coalesce(status, 0), (begin_s, request_index)) as status
          from (select *, min(t_s) over (partition by phase, rung_index, pass, round, attempt) as begin_s from rows where {of})
          where failed group by 1""", **args)
        errors.sort(key=lambda e: OUTCOMES.index(e["name"]))
        timeouts = run.all(f"""select rung_value as value, input_tokens_planned as input_tokens, count(*) as n
          from rows where {of} and outcome = 'timeout' group by all order by 1, 2""", **args)
        met = run.all(f"""select "limit", count(*) as n, count(distinct incident) as incidents, list_sort(list(distinct rung_value)) as "values"
          from rows where {of} and failed and "limit" is not null group by 1 order by 4""", **args)
        out.append({"warmup_failures": warm, "errors": errors, "timeouts": timeouts, "limits_met": met})
    return {"ladders": out}
