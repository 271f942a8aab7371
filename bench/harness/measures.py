"""What is measured, medians of it, and tables."""

import statistics
from dataclasses import dataclass
from typing import Callable

from harness.contenders import OUR_FORMS, REFERENCE


@dataclass
class Measure:
    name: str
    title: str
    of: Callable
    digits: int = 0


def per_pod(key):
    return lambda record: (record[key] - record["rss_baseline"]) / record["size"] / 1000


MEASURES = [
    Measure("sync", "time to sync, ms", lambda record: record["sync_ms"]),
    Measure("sync_cpu", "CPU time to sync, ms", lambda record: record["sync_cpu_ms"]),
    Measure("server_cpu", "CPU time of the API server, ms", lambda record: record["server_cpu_ms"]),
    Measure("answer", "the answer without gzip, KB per pod", lambda record: record["answer_bytes"] / record["size"] / 1000, 1),
    Measure("peak", "peak memory, KB per pod", per_pod("rss_peak"), 1),
    Measure("settled", "settled memory, KB per pod", per_pod("rss_settled"), 1),
    Measure("churn_rate", "changes per second, as fast as they come", lambda record: record["churn_events_per_s"]),
    Measure("churn_cpu", "CPU time per change, µs", lambda record: record["churn_cpu_us_per_event"], 1),
    Measure("latency", "latency, median, µs", lambda record: record["lat_p50_us"]),
    Measure("latency99", "latency, 99th percentile, µs", lambda record: record["lat_p99_us"]),
    Measure("latency_cpu", "CPU time per change at that rate, µs", lambda record: record["lat_cpu_us_per_event"]),
    Measure("gets", "look-ups by key, millions per second", lambda record: record["get_ops_s"] / 1e6, 2),
    Measure("list", "list all, µs", lambda record: record["list_all_us"]),
    Measure("namespace", "list a namespace, µs", lambda record: record["list_ns_us"]),
]


def medians(records):
    """One row for each case, size and contender, with [median, least, most] of every measure."""
    groups = {}
    for record in records:
        groups.setdefault((record["case"], record["size"], record["name"]), []).append(record)
    rows = []
    for (case, size, name), group in groups.items():
        values = {}
        for measure in MEASURES:
            try:
                found = [measure.of(record) for record in group]
            except KeyError:
                continue
            if any(found):
                values[measure.name] = [round(f(found), 4) for f in (statistics.median, min, max)]
        rows.append({"case": case, "size": size, "name": name, "repeats": len(group), "values": values})
    return rows


def in_order(names):
    """Ours first, in the order of their table; then what they are compared with."""
    ours = [name for name in OUR_FORMS if name in names]
    others = sorted(set(names) - set(ours), key=lambda name: (name != REFERENCE, name))
    return ours + others


def table(rows):
    """A table of one case and size: medians, and in brackets the ratio to kube-rs."""
    by_name = {row["name"]: row["values"] for row in rows}
    names = in_order(by_name)
    heads = [f"ours, `{name}`" if name in OUR_FORMS else name for name in names]
    lines = ["| | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(names)]
    for measure in MEASURES:
        if not any(measure.name in values for values in by_name.values()):
            continue
        reference = by_name.get(REFERENCE, {}).get(measure.name)
        cells = []
        for name in names:
            value = by_name[name].get(measure.name)
            cells.append(cell(value, reference if name != REFERENCE else None, measure.digits))
        lines.append(f"| {measure.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(value, reference, digits):
    if not value:
        return "–"
    text = f"{value[0]:,.{digits}f}"
    if reference and reference[0]:
        text += f" ({value[0] / reference[0]:.2f})"
    return text


def noise(rows):
    """How far the runs of the same thing are apart, in the worst case of these rows."""
    worst = 1.0
    for row in rows:
        _, least, most = row["values"].get("sync_cpu", (0, 0, 0))
        if least > 0:
            worst = max(worst, most / least)
    return worst
