"""Checks of the limits, and what a run carries into a server's configuration."""

import math

from ends import walks
from memory import SAME, memory
from spans import Says, latency, tally


def checks(run):
    out = [check(run, "retest", t["ladder"], t["tokens"], t.get("output")) for t in run.cell.get("retests", [])]
    c = run.cell.get("confirm")
    if c:
        out.append(check(run, "confirm", "", c["tokens"], c.get("output")))
    return {"checks": out}


def check(run, phase, ladder, tokens, output):
    m, args = memory(run), {"phase": phase, "ladder": ladder}
    rows = "phase = $phase and ladder = $ladder"
    total, named = tally(run, rows, **args)
    shape = run.one(f"""select any_value(inputs) as batch, any_value(in_flight) as in_flight, any_value(rung_value) as value
      from rows where {rows}""", **args)
    value = shape.pop("value")
    out = {
        "kind": phase, "sent": total, "failures": named, "value": value if ladder else None,
        "shape": shape | {"input_tokens": tokens} | ({"output_tokens": output} if output else {}),
        "latency": latency(run, f"select latency_s as s from rows where {rows} and counted and outcome = 'ok'", **args),
        "warmup_failures": tally(run, "phase = 'check_warmup' and ladder = $ladder", ladder=ladder)[1],
    }
    if not m.known:
        return out | {"peak_samples": 0, "after_high_water": False}
    peak = run.one("""
      with span as (select min(t_s) filter (kind = 'phase_begin') as begin_s, min(t_s) filter (kind = 'phase_end') as end_s from events
        where phase = $phase and coalesce(ladder, '') = $ladder)
      select max(mem_used_bytes) as peak_bytes, count(mem_used_bytes) as peak_samples,
        (select coalesce(arg_max(mem_used_bytes, t_s), 0) from gpu, span where device = $device and t_s < begin_s) as level
      from gpu, span where device = $device and t_s between begin_s and end_s""", device=m.device["device"], **args)
    level = peak.pop("level")
    high = peak["peak_samples"] > 0 and peak["peak_bytes"] <= level * SAME and level - m.idle > 0.01 * m.total
    return out | peak | {"after_high_water": high}


def carried(run):
    """The settings by name, in the report's order; None where the data does not carry one."""
    m = memory(run)

    def least(axis, of):
        """The least over the ladders of an axis of what is made of the rung at the limit."""
        at = [of(w.at(value)[0]) for w, (value, _) in zip(walks(run), m.limits) if w.plan["axis"] == axis and value is not None]
        return min(at, default=None)

    config = run.rules["config"]
    single = run.value("select quantile_cont(latency_s, 0.95) from rows where phase = 'baseline' and counted and outcome = 'ok'")
    return {
        "max_batch_size": least("batch", lambda r: r["value"]),
        "max_concurrency": least("concurrency", lambda r: r["value"]),
        "max_sequences": least("concurrency", lambda r: r["value"] * r["shape"]["batch"]),
        "max_input_tokens": least("input_tokens", lambda r: r["value"]),
        "max_model_len": least("input_tokens", lambda r: r["value"] + r["shape"].get("output_tokens", 0)),
        "max_batch_tokens": least("batch", lambda r: r["value"] * r["shape"]["input_tokens"]),
        "gpu_memory_share": memory_share(run),
        "queue_timeout_ms": math.ceil(1000 * single * config["queue_factor"]),
        "request_timeout_ms": request_timeout(run, config["timeout_factor"]),
        "gpu_memory_reserve": m.head["reserve_bytes"] if "available_bytes" in m.head else None,
    }


def request_timeout(run, factor):
    """The slowest success at the longest output, at rungs up to the limits; none where a request timed out there."""
    longest, slowest, timed_out = -1, 0, 0
    for w, (limit, _) in zip(walks(run), memory(run).limits):
        for r, s in zip(w.rungs, w.shown):
            if not s["latency"] or not w.below_edge(r) or limit is not None and r["value"] > limit:
                continue
            output = r["shape"].get("output_tokens", 0)
            if output > longest:
                longest, slowest, timed_out = output, 0, 0
            if output == longest:
                slowest = max(slowest, s["latency"]["max_s"])
                timed_out += run.value("""select count(*) from rows where phase = 'measure' and outcome = 'timeout'
                  and ladder = $ladder and rung_index = $rung""", ladder=w.plan["name"], rung=r["index"])
    return math.ceil(1000 * slowest * factor) if slowest and not timed_out else None


def memory_share(run):
    """The share that the server was started with, lowered by what the peak leaves less than safety and reserve."""
    m, command = memory(run), run.cell.get("server", {}).get("command", [])
    given = next((command[i + 1] for i, flag in enumerate(command) if flag in ("--gpu-memory-utilization", "--mem-fraction-static")), None)
    at = [p["peak_bytes"] for w, peaks, (limit, _) in zip(walks(run), m.peaks, m.limits)
          for r, p in zip(w.rungs, peaks) if p and r["value"] == limit and w.plan["axis"] in ("batch", "concurrency")]
    if given is None or not at:
        return None
    share = float(given)
    short = max(at) + m.head["reserve_bytes"] + m.head["reserved_bytes"] + run.rules["headroom"]["safety"] * m.total - m.total
    return math.floor(100 * (share - short / m.total)) / 100 if short > 0 else share


def settings(run):
    return {"settings": [{"name": name, "value": value} for name, value in carried(run).items()]}


# The settings that each form has a place for, in its order.
FORMS = {
    "vllm": ["max_sequences", "max_model_len", "max_batch_tokens", "gpu_memory_share"],
    "tei": ["max_batch_size", "max_sequences", "max_batch_tokens"],
    "sglang": ["max_sequences", "gpu_memory_share"],
}
EMBEDDING = ["max_batch_size", "max_concurrency", "max_input_tokens", "queue_timeout_ms", "gpu_memory_reserve"]
SERVER = ["max_concurrency", "queue_timeout_ms", "request_timeout_ms"]


def configs(run):
    out = []
    for form in run.plan.get("configs", []):
        values = carried(run)
        if form == "vllm":  # which does not start with fewer batched tokens than the model is long
            length = values["max_model_len"] or run.manifest["server"].get("max_model_len") or 0
            if (values["max_batch_tokens"] or length) < length:
                values["max_batch_tokens"] = None
        names = FORMS.get(form) or ([] if run.generates else EMBEDDING) + SERVER
        out.append({"form": form, "entries": [entry(n, values[n]) for n in names if values[n] is not None]})
    return {"configs": out}


def entry(name, value):
    """A value, and as it is written: memory in MiB, rounded up."""
    written = math.ceil(value / 2**20) if name == "gpu_memory_reserve" else value
    return {"value": Says([written]), "setting": {"name": name, "value": value}}
