"""Turns the records of a run into a table, a JSON file and a plot.

A record (one a file): {"file", "class", "columns": {name: {"ms", "ms_lower_quartile", "samples_ns", "faults",
"error", ...}}, "missing": {name: reason}, "ratios": {name: [low, middle, high]}, ...}."""
import json

from catalogue import SETS
from intervals import geomean

COLUMNS = ["stock", "eager", "compile", "blas", "iree", "kb", "kb-first", "kb-random"]
# Ratio of a record: (title, numerator column, denominator column); "torch" is the faster of eager and compile.
RATIOS = {
    "kb_over_torch": "kb vs torch", "kb_over_blas": "kb vs blas", "kb_over_stock": "kb vs stock", "kb_over_first": "kb vs first",
    "kb_over_random": "kb vs random", "iree_over_torch": "IREE vs torch", "control": "A/A",
}


def geomeans(records, key):
    """{group: (geomeans of the lower ends, the medians and the upper ends, smallest median, count)} of a ratio over
    each set and class of the catalogue, and all."""
    def summary(chosen):
        values = [r["ratios"][key] for r in chosen if key in r["ratios"]]
        if not values:
            return None
        ends = list(zip(*values))
        return *map(geomean, ends), min(ends[1]), len(values)

    groups = {name: [r for r in records if r["file"] in files] for name, files in SETS.items()}
    for kind in sorted({r["class"] for r in records}):
        groups[kind] = [r for r in records if r["class"] == kind]
    groups["all"] = records
    return {name: s for name, chosen in groups.items() if (s := summary(chosen))}


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def cell(record, name, key="ms"):
    column = record["columns"].get(name)
    if column is None:
        return "-"
    marks = ("!" if not column["correct"] else "") + ("*" if column["faults"] else "")
    return number(column[key]) + marks


def interval(record, key):
    if key not in record["ratios"]:
        return "-"
    low, middle, high = record["ratios"][key]
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def table(titles, rows):
    """Markdown that is also readable as it is."""
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    lines = [[t.ljust(w) for t, w in zip(row, widths)] for row in [titles, ["-" * w for w in widths], *rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def times(records, key):
    rows = [[r["file"], r["class"], *(cell(r, name, key) for name in COLUMNS)] for r in records]
    return table(["file", "class", *COLUMNS], rows)


def ratios(records):
    rows = [[r["file"], *(interval(r, key) for key in RATIOS)] for r in records]
    return table(["file", *RATIOS.values()], rows)


def summary(records):
    """The geomeans."""
    means = {key: geomeans(records, key) for key in RATIOS}
    groups = list(dict.fromkeys(group for per_key in means.values() for group in per_key))
    groups.sort(key=lambda group: (group not in SETS, group == "all", group))

    def shown(mean):
        return f"{mean[1]:.2f} [{mean[0]:.2f}, {mean[2]:.2f}] min {mean[3]:.2f} of {mean[4]}" if mean else "-"

    return table(["geomean of", *RATIOS.values()],
                 [[group, *(shown(means[key].get(group)) for key in RATIOS)] for group in groups])


def text(run):
    """The whole report as Markdown."""
    records = run["files"]
    facts = run["machine"]
    parts = [
        f"Host benchmark, {run['started']}, {facts['cpu']}, {facts['cores']} cores, "
        f"{run['options']['threads']} thread{'s' * (run['options']['threads'] > 1)}"
        + (", cold caches" if run["options"]["cold"] else ", warm"),
        "Medians in ms. `!` wrong result, `*` page faults while timed, `-` see below.",
        times(records, "ms"),
        "Ratios: medians over rounds with 95% intervals, above 1: the first is faster. torch is the faster of eager and "
        "compile. A/A is one column against itself.",
        ratios(records), summary(records),
        "Lower quartiles in ms.", times(records, "ms_lower_quartile"),
    ]
    notes = []
    for record in records:
        errors = [f"{name} {c['error']:.1e}" for name, c in record["columns"].items()]
        notes.append(f"- {record['file']}: error against {record['reference']}: " + ", ".join(errors))
        notes += [f"  - no {name}: {reason}" for name, reason in record["missing"].items()]
        notes += [f"  - {name}: {s['winners']} of {s['kernels']} kernels replaced, {s['variants']} variants"
                  + (f", {s['seconds']} s" if "seconds" in s else "") + f", stopped: {s['stop']}"
                  for name, s in record["searches"].items()]
        faults = [f"{name} {c['faults']}" for name, c in record["columns"].items() if c["faults"]]
        if faults:
            notes.append("  - page faults in the median call: " + ", ".join(faults))
        busy = [f"{name} {c['preempted']}/{len(c['samples_ns'])}" for name, c in record["columns"].items()
                if c["preempted"] * 10 > len(c["samples_ns"])]
        if busy:
            notes.append("  - lost the core while timed (the machine is busy): " + ", ".join(busy))
        if record["inputs_changed"]:
            notes.append("  - an input was changed")
    parts.append("\n".join(notes))
    parts.append("Versions: " + ", ".join(f"{k} {v}" for k, v in run["versions"].items())
                 + f"\n\nRepeat with: `{run['command']}`")
    return "\n\n".join(parts) + "\n"


def plot(records, path):
    """Speed of each column relative to the faster of torch's two, a row a file. False if matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    drawn = [r for r in records if r["columns"]]
    drawn.sort(key=lambda r: (r["file"] not in SETS["claimed"], r["class"], r["file"]))
    styles = {"stock": ("v", "0.6"), "eager": ("s", "tab:orange"), "compile": ("D", "tab:red"),
              "blas": ("p", "tab:brown"), "iree": ("^", "tab:green"), "kb-random": ("x", "tab:purple"), "kb-first": ("+", "tab:cyan"),
              "kb": ("o", "tab:blue")}
    figure, axes = pyplot.subplots(figsize=(9, 1.6 + 0.32 * len(drawn)))
    for name, (marker, colour) in styles.items():
        points = []
        for row, record in enumerate(drawn):
            base = [record["columns"][c]["ms"] for c in ("eager", "compile") if c in record["columns"]]
            base = base or [record["columns"][c]["ms"] for c in ("stock",) if c in record["columns"]]
            if base and name in record["columns"]:
                points.append((min(base) / record["columns"][name]["ms"], row))
        if points:
            axes.scatter(*zip(*points), marker=marker, color=colour, label=name, zorder=3 if name == "kb" else 2)
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(drawn)), [f"{r['file']}  ({r['class']})" for r in drawn])
    axes.set_ylim(len(drawn) - 0.4, -0.6)
    axes.grid(axis="x", which="both", linewidth=0.3)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("speed over the faster of torch eager and torch.compile (over stock where there is no torch)",
                    fontsize="small")
    axes.legend(ncol=len(styles), loc="lower center", bbox_to_anchor=(0.35, 1.0), frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return True


def write(run, folder):
    """Writes results.json, report.md and plot.png; the report's text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(run, indent=1) + "\n")
    report = text(run)
    (folder / "report.md").write_text(report)
    plot(run["files"], folder / "plot.png")
    return report
