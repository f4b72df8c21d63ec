"""A run's Parquet in DuckDB, and the tables made of it that the queries share."""

import json
import re
from pathlib import Path

import duckdb

# Not every run has a card or a page of the server's metrics, and then there is no table of them.
EMPTY = {
    "server": "t_s double, series varchar, value double",
    "gpu": """t_s double, device int, phase varchar, ladder varchar, rung_index int, rung_value double, mem_call varchar, mem_used_bytes bigint,
      mem_total_bytes bigint, mem_reserved_bytes bigint, util_gpu_pct double, power_w double, sm_clock_mhz double, energy_j double,
      throttle_reasons bigint""",
}

# The outcomes in the order in which the report lists them.
OUTCOMES = """ok oom cuda_error timeout rate_limited unavailable overloaded reset refused too_long
token_mismatch bad_response server_error client_error client_limited cancelled dropped""".split()

SHARED = """
-- Requests, with the warm-ups of a check told from those of a ladder by when they were sent.
create table rows as
select r.* replace (
    case when r.phase = 'warmup' and exists (
        from events e where e.kind = 'phase_begin' and coalesce(e.ladder, '') = coalesce(r.ladder, '') and r.t_s >= e.t_s
          and (e.phase = 'retest' or e.phase = 'confirm' and e.ladder is null)
    ) then 'check_warmup' else r.phase end as phase,
    coalesce(r.ladder, '') as ladder),
  r.outcome not in ('ok', 'token_mismatch', 'client_limited', 'cancelled', 'dropped') and not r.reset_idle as failed,
  r.outcome <> 'cancelled' and not r.reset_idle as asked
from requests r;

-- What a ladder's successes are counted in: what it is that one is worth.
create table worths as
select l.ladder, case
    when l.axis = 'input_tokens' and count(*) filter (r.outcome = 'ok' and r.input_tokens is null) = 0 then 'input tokens/s'
    when not l.generates then 'inputs/s'
    when count(*) filter (r.outcome = 'ok' and r.output_tokens is null) = 0 then 'output tokens/s'
    else 'requests/s' end as unit
from ladders l left join rows r on r.ladder = l.ladder and r.phase = 'measure' and r.counted and r.outcome = 'ok'
group by l.ladder, l.axis, l.generates;

-- Attempts of rounds with their windows: of a closed loop from the first send to the last
-- send, or to the last end with one request in flight; of an open loop the planned time.
create table attempts as
select r.ladder, r.phase, r.rung_index, r.pass, r.round, r.attempt, bool_or(r.counted) as counts,
  count(*) filter (r.asked) as sent, count(*) filter (r.failed) as failed,
  min(r.t_s) as first_send, max(r.done_t_s) filter (r.t_s is not null) as last_end,
  case when any_value(g.duration_s) > 0 then coalesce(any_value(e.t_s), min(r.due_t_s)) else min(r.t_s) end as begin_s,
  case when any_value(g.duration_s) > 0 then coalesce(any_value(e.t_s), min(r.due_t_s)) + any_value(g.duration_s)
    else max(case when r.in_flight <= 1 then r.done_t_s else r.t_s end) filter (r.t_s is not null) end as end_s
from rows r
left join rungs g on g.ladder = r.ladder and g.rung_index = r.rung_index
left join (from events where kind = 'round_begin') e on e.ladder = r.ladder and e.phase = r.phase
  and e.rung_index = r.rung_index and e.pass = r.pass and e.round = r.round and e.attempt = r.attempt
where r.phase <> 'probe'
group by all;

-- Work done and requests in flight in the windows. A success whose end lies behind the
-- window is in neither.
create table flows as
select a.ladder, a.phase, a.rung_index, a.pass, a.round, a.attempt, a.counts, a.end_s - a.begin_s as span_s,
  sum(greatest(0, least(r.done_t_s, a.end_s) - greatest(r.t_s, a.begin_s))) filter (r.t_s is not null) as busy_s,
  coalesce(sum(case w.unit
    when 'inputs/s' then r.inputs_done
    when 'output tokens/s' then r.output_tokens
    when 'input tokens/s' then r.input_tokens
    else 1 end) filter (r.outcome = 'ok' and r.done_t_s <= a.end_s), 0) as work,
  count(*) filter (r.outcome = 'ok' and r.done_t_s <= a.end_s) as done,
  coalesce(sum(r.inputs_done) filter (r.outcome = 'ok' and r.done_t_s <= a.end_s), 0) as inputs,
  coalesce(sum(r.output_tokens) filter (r.outcome = 'ok' and r.done_t_s <= a.end_s), 0) as tokens
from attempts a
join rows r using (ladder, phase, rung_index, pass, round, attempt)
left join worths w on w.ladder = a.ladder
where a.end_s > a.begin_s
group by all;

-- The rounds in which the server and the card are looked at: those that count or, where none
-- of the rung does, all that were measured.
create table looked as
from attempts a where phase = 'measure' and (counts or not exists (
  from attempts b where b.phase = 'measure' and b.counts and b.ladder = a.ladder and b.rung_index = a.rung_index));

-- The series of the server's page that the report reads.
create table page as
select t_s, series, max(value) as value from server
where series in ('waiting', 'running', 'kv_usage', 'kv_tokens', 'preemptions', 'batch_size_top_share') and isfinite(value)
group by all;
"""


def seconds(text):
    """A duration as Go writes it: "1m0s", "700ms"."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
    return sum(float(n) * units[u] for n, u in re.findall(r"([\d.]+)(h|ms|m|µs|us|ns|s)", text or ""))


class Run:
    """One run: its tables, and what was declared before it began."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())
        self.plan = self.manifest["plan"]
        self.report = {}  # with what the page's pictures show
        for name in ("report", "pictures"):
            self.report |= json.loads((self.folder / "report" / f"{name}.json").read_text())
        self.cell = next(c for c in self.plan["cells"] if c.get("name", "") == self.manifest.get("cell", ""))
        self.rules = self.plan["analysis"]
        self.ladders = self.cell["ladders"]
        self.generates = self.plan["target"]["api"] in ("openai-chat", "openai-completions")
        self.db = duckdb.connect()
        for table in ("requests", "gpu", "events", "client", "server"):
            files = self.folder / table / "*.parquet"
            if list(files.parent.glob("*.parquet")) or table not in EMPTY:
                self.db.execute(f"create table {table} as from '{files}'")
            else:
                self.db.execute(f"create table {table} ({EMPTY[table]})")
        self.db.execute("create table ladders (ladder varchar, axis varchar, generates boolean)")
        self.db.execute(
            "create table rungs (ladder varchar, axis varchar, rung_index int, value double, duration_s double)")
        for l in self.ladders:
            self.db.execute("insert into ladders values (?, ?, ?)", [l["name"], l["axis"], self.generates])
            for r in l["rungs"]:
                length = seconds(r.get("duration")) if l["axis"] == "rate" else 0
                self.db.execute("insert into rungs values (?, ?, ?, ?, ?)", [l["name"], l["axis"], r["index"], r["value"], length])
        self.db.execute(SHARED)

    def all(self, sql, **args):
        """The rows of a query as dictionaries."""
        cursor = self.db.execute(sql, args)
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]

    def one(self, sql, **args):
        """The only row of a query."""
        (row,) = self.all(sql, **args)
        return row

    def values(self, sql, **args):
        """The only column of a query."""
        return [next(iter(row.values())) for row in self.all(sql, **args)]

    def value(self, sql, **args):
        """The only value of a query."""
        (value,) = self.values(sql, **args)
        return value
