"""The aggregates that a report of one ladder rests on, by DuckDB, as a yardstick for
`rung report`: how many rows each query gives, as one line of JSON.

usage: aggregates.py RUN
"""

import json
import sys

import duckdb

run = sys.argv[1]
db = duckdb.connect()
db.execute("SET memory_limit = '8GB'")
db.execute(f"CREATE VIEW requests AS FROM read_parquet('{run}/requests/*.parquet')")
db.execute("CREATE VIEW counted AS FROM requests WHERE phase = 'measure' AND counted AND outcome = 'ok'")

quantiles = "quantile_cont({0}, [0.5, 0.95, 0.99])"
queries = {
    "counts": "SELECT count(*), count(*) FILTER (counted), count(*) FILTER (outcome != 'ok') FROM requests",
    "outcomes": "SELECT ladder, rung_index, phase, outcome, count(*) FROM requests GROUP BY ALL",
    "latency": f"""SELECT ladder, rung_index, count(*), avg(latency_s), stddev_samp(latency_s), min(latency_s), max(latency_s),
        {quantiles.format('latency_s')} FROM counted GROUP BY ALL""",
    "latency by pass": f"SELECT ladder, rung_index, pass, {quantiles.format('latency_s')} FROM counted GROUP BY ALL",
    "lateness": "SELECT ladder, rung_index, quantile_cont(lateness_s, 0.95) FROM counted GROUP BY ALL",
    "streams": f"SELECT ladder, rung_index, {quantiles.format('ttft_s')}, {quantiles.format('tpot_s')} FROM counted GROUP BY ALL",
    "answers": """SELECT ladder, rung_index, finish_reason, count(*), sum(output_tokens), min(output_tokens), max(output_tokens),
        sum(cached_tokens) FROM counted GROUP BY ALL""",
    "throughput": """
        WITH w AS (
            SELECT ladder, rung_index, pass, round, attempt, min(t_s) AS b,
                CASE WHEN max(in_flight) <= 1 THEN max(done_t_s) ELSE max(t_s) END AS e
            FROM requests WHERE phase = 'measure' AND counted GROUP BY ALL),
        r AS (
            SELECT ladder, rung_index, pass, round, attempt, any_value(e - b) AS span,
                sum(output_tokens) FILTER (outcome = 'ok' AND done_t_s <= e) AS work,
                sum(greatest(0, least(done_t_s, e) - greatest(t_s, b))) AS busy
            FROM requests JOIN w USING (ladder, rung_index, pass, round, attempt)
            WHERE phase = 'measure' AND counted GROUP BY ALL)
        SELECT ladder, rung_index, pass, sum(work) / sum(span), sum(busy) / sum(span) FROM r GROUP BY GROUPING SETS ((ladder, rung_index), (ladder, rung_index, pass))""",
    "thirds": """
        WITH s AS (
            SELECT ladder, rung_index, pass, latency_s, ntile(3) OVER (PARTITION BY ladder, rung_index, pass ORDER BY t_s) AS third FROM counted)
        SELECT ladder, rung_index, pass, third, median(latency_s) FROM s GROUP BY ALL""",
    "medians of rounds": "SELECT ladder, rung_index, pass, round, median(latency_s) FROM counted GROUP BY ALL",
    "histogram": """
        WITH b AS (SELECT ln(min(latency_s)) AS low, ln(max(latency_s)) AS high FROM counted)
        SELECT rung_index, least(39, floor(40 * (ln(latency_s) - low) / (high - low))) AS bin, count(*) FROM counted, b GROUP BY ALL""",
    "in flight": """
        WITH x AS (SELECT min(t_s) AS b, (max(done_t_s) - min(t_s)) / 6000 AS step FROM requests),
        c AS (
            SELECT ceil((t_s - b) / step) AS slot, 1 AS n FROM requests, x UNION ALL
            SELECT ceil((done_t_s - b) / step) AS slot, -1 AS n FROM requests, x),
        d AS (SELECT slot, sum(n) AS n FROM c GROUP BY slot)
        SELECT slot, sum(n) OVER (ORDER BY slot) FROM d""",
}
rows = {name: len(db.execute(q).fetchall()) for name, q in queries.items()}
print(json.dumps(rows))
