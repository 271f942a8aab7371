"""REPORT.md and the pictures, made of what `bench/run` and `bench/real` have stored."""

import json
import os

from harness import charts, measures
from harness.contenders import ROOT

FOLDER = os.path.join(ROOT, "bench", "report")
REPORT = os.path.join(ROOT, "bench", "REPORT.md")

# file: (measure, title, unit)
PICTURES = {
    "sync": ("sync", "Time until a streamed state is synced", "milliseconds"),
    "memory": ("settled", "Memory of a synced informer", "KB per object"),
    "cpu": ("churn_cpu", "CPU time of the client per change", "microseconds"),
    "latency": ("latency", "Latency from the server to a handler", "median, microseconds"),
}
# The case that the pictures show.
PICTURED = "streamed"

TITLES = {
    "listed": "Listed, then watched",
    "streamed": "Streamed list, then changes",
    "handlers": "Streamed list, then changes, eight handlers",
    "deletes": "Streamed list, then deletions and additions",
    "tls": "Streamed list, then changes, over TLS (ours and client-go: HTTP/2; kube-rs: HTTP/1.1)",
    "gzip": "Listed, compressed for those who accept it",
}

REAL_TITLES = {
    "listed": "Listed",
    "listed-plain": "Listed, nobody asks for gzip",
    "streamed": "Streamed list",
    "streamed-plain": "Streamed list, nobody asks for gzip",
}


def store(kind, about, rows):
    """Keeps what was measured, for this report and the next."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(path_of(kind), "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(row) for row in rows)
        file.write(f'{{"about": {json.dumps(about, indent=1)},\n"rows": [\n{lines}\n]}}\n')


def stored(kind):
    try:
        with open(path_of(kind), encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return None, []
    return found["about"], found["rows"]


def path_of(kind):
    return os.path.join(FOLDER, f"{kind}.json")


def write():
    """Writes the report and the pictures, and returns their paths."""
    written = []
    about, rows = stored("run")
    for name, picture in pictures(rows).items():
        path = os.path.join(FOLDER, f"{name}.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
        written.append(path)
    with open(REPORT, "w", encoding="utf-8") as file:
        file.write(markdown(about, rows, *stored("real")))
    return [REPORT, *written]


def pictures(rows):
    found = {}
    for name, (measure, title, unit) in PICTURES.items():
        series = {}
        for row in rows:
            value = row["values"].get(measure)
            if row["case"] == PICTURED and value and value[0] > 0:
                series.setdefault(row["name"], []).append((row["size"], value[0]))
        if series:
            ordered = {of: sorted(series[of]) for of in measures.in_order(series)}
            found[name] = charts.chart(title, unit, ordered)
    return found


def markdown(about, rows, real_about, real_rows):
    parts = [
        "# The cost of an informer, beside kube-rs and client-go",
        "`bench/run` and `bench/real` write this page; do not edit it. What the rows mean, and how to repeat this: "
        "[README.md](README.md). Figures are medians. The ratio to kube-rs is in brackets: read the ratios, because "
        "the figures belong to one machine and one hour.",
    ]
    if rows:
        parts += ["## Against the load server", facts(about)]
        for name, (_, title, _) in PICTURES.items():
            if name in pictures(rows):
                parts.append(f"![{title}](report/{name}.svg)")
        parts += sections(rows)
    if real_rows:
        parts += ["## Against a real kube-apiserver", facts(real_about)]
        parts += sections(real_rows, REAL_TITLES)
    return "\n\n".join(parts) + "\n"


def facts(about):
    load = about["load"]
    lines = [
        f"- {about['date']}, commit {about['commit']}: `{about['command']}`",
        f"- {about['machine']}; clients and server share them. Load before: {load}.",
        f"- {', '.join(about['versions'])}",
        f"- {about['data']}",
    ]
    lines += [f"- {note}" for note in about.get("notes", [])]
    return "\n".join(lines)


def sections(rows, titles=None):
    titles = titles or TITLES
    groups = {}
    for row in rows:
        groups.setdefault((row["case"], row["size"]), []).append(row)
    places = list(titles)
    for case, size in sorted(groups, key=lambda group: (places.index(group[0]), group[1])):
        group = groups[case, size]
        repeats = min(row["repeats"] for row in group)
        yield f"### {titles[case]}: {size:,} pods"
        yield measures.table(group)
        apart = measures.noise(group)
        if repeats == 1:
            yield "One run each."
        else:
            yield f"Medians of {repeats}. CPU times to sync of the same client differ by a factor of up to {apart:.2f}."
