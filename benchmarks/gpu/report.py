"""Turns the records of a run into a table, a JSON file and a plot.

A record (one a file): {"file", "bytes", "columns": {name: {"us", "interval_us", "samples_us", "late", "error", "room",
"correct"}}, "missing": {name: reason}, "ratios": {name: [low, middle, high]}, "search": {...}, "notes": [...]}."""
import json

from intervals import bootstrap_geomean

TORCH = ["eager", "compile", "max-autotune"]
USUAL = [*TORCH, "copy", "kb"]
SEARCHED = ["kb", "kb-first", "kb-random"]
COLUMNS = [*TORCH, "copy", *SEARCHED]


RATIOS = {"kb_over_torch": "best of torch over kb", "share_of_copy": "copy over kb (share of the copy floor)",
          "torch_share_of_copy": "copy over best of torch", "kb_over_first": "first proposal over kb",
          "kb_over_random": "random choice over kb"}


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def cell(record, name):
    column = record["columns"].get(name)
    if column is None:
        return "-"
    return number(column["us"]) + ("" if column["correct"] else "!") + ("*" if column["late"] else "")


def triple(values, digits=2):
    return "-" if not values else f"{values[1]:.{digits}f} [{values[0]:.{digits}f}, {values[2]:.{digits}f}]"


def table(titles, rows):
    """Markdown that is also readable as it is."""
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    lines = [[t.ljust(w) for t, w in zip(row, widths)] for row in [titles, ["-" * w for w in widths], *rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def times(records):
    shown = [name for name in COLUMNS if name in USUAL or any(name in r["columns"] for r in records)]
    rows = []
    for r in records:
        rate = r["bytes"] / r["columns"]["kb"]["us"] / 1e6 if "kb" in r["columns"] else None
        rows.append([r["file"], *(cell(r, name) for name in shown), f"{rate:.2f}" if rate else "-",
                     triple(r["ratios"].get("kb_over_torch")), triple(r["ratios"].get("share_of_copy"))])
    return table(["file", *shown, "kb TB/s", "best torch / kb", "copy / kb"], rows)


def geomeans(records, seed):
    """{ratio: ([low, middle, high], smallest median, its file, count)}."""
    found = {}
    for key in RATIOS:
        lists = {r["file"]: r["ratio_samples"][key] for r in records if key in r.get("ratio_samples", {})}
        if lists:
            mean = bootstrap_geomean(list(lists.values()), seed)
            worst = min(lists, key=lambda file: next(r for r in records if r["file"] == file)["ratios"][key][1])
            least = next(r for r in records if r["file"] == worst)["ratios"][key][1]
            found[key] = ([mean.low, mean.middle, mean.high], least, worst, len(lists))
    return found


def searches(records):
    rows = []
    for r in records:
        for column, found in r["search"].items():
            used = found.get("utilisation", {})
            for kernel, p in found.get("progress", {}).items():
                near = "-" if p["near_best_seconds"] is None else f"{p['near_best_seconds']:.1f}"
                speedup = "-" if p["speedup"] is None else f"{p['speedup']:.2f}"
                busy = [f"{100 * used[key]:.0f}%" if key in used else "-" for key in ("compile", "device")]
                rows.append([r["file"], column, kernel, str(p["variants"]), f"{p['variants_per_second']:.1f}", near,
                             f"{p['seconds']:.1f}", speedup, *busy])
    if not rows:
        return ""
    return table(["file", "column", "kernel", "variants", "variants/s", "s to within 3%", "s", "speedup over stock",
                  "forks busy", "worker busy"], rows)


def together(records, run):
    """What all searches of this run came to."""
    found = [f for r in records for f in r["search"].values() if f.get("utilisation")]
    if not found or not run:
        return []
    variants = sum(p["variants"] for f in found for p in f["progress"].values())
    each = run["seconds"] * run["gpus"] * run["jobs"]  # of one search after another
    forks = max(f["utilisation"]["forks"] for f in found)
    busy = {key: sum(f["utilisation"][key] * f["utilisation"]["seconds"] for f in found) / each for key in ("compile", "device")}
    return [f"{variants} variants in {run['seconds']:.0f} s: {variants / run['seconds']:.1f} a second, {run['jobs']} searches at "
            f"a time on each of {run['gpus']} GPUs, each with {forks} compile forks, which worked {100 * busy['compile']:.0f}% of "
            f"the time, and a worker, {100 * busy['device']:.0f}%; the rest is preparation, acceptance and waiting."]


def text(run):
    """The whole report as Markdown."""
    records, device = run["files"], run["device"]
    parts = [f"GPU benchmark, {run['started']}, {device.get('gpu', 'no GPU')}",
             "Medians in us, cold L2, queue kept busy. `!` wrong result, `*` the queue ran dry in some calls, `-` see "
             "below. Ratios are medians over rounds with 95% intervals; above 1: kb is faster.", times(records)]
    for key, (mean, least, worst, count) in geomeans(records, run["options"]["seed"]).items():
        parts.append(f"Geometric mean of {RATIOS[key]}: {triple(mean, 3)} of {count} files, least {least:.2f} ({worst})")
    if found := searches(records):
        parts += ["Searches:", found, *together(records, run.get("searching"))]
    notes = []
    for r in records:
        notes += [f"- {r['file']}: no {name}: {reason}" for name, reason in r["missing"].items()]
        notes += [f"- {r['file']}: {note}" for note in r["notes"]]
        notes += [f"- {r['file']}: {name} is off by {c['error']:.1e}, more than {c['room']:.1e}"
                  for name, c in r["columns"].items() if not c["correct"]]
        notes += [f"- {r['file']}: {name} waited for the host in {c['late']} of {len(c['samples_us'])} calls"
                  for name, c in r["columns"].items() if c["late"]]
    if notes:
        parts.append("\n".join(notes))
    if compiled := [(r["file"], r["compile_seconds"]) for r in records if r.get("compile_seconds")]:
        parts.append("Seconds of torch.compile: " + "; ".join(
            f"{file} " + ", ".join(f"{mode} {s:.1f}" for mode, s in modes.items()) for file, modes in compiled))
    parts.append("Versions: " + ", ".join(f"{k} {v}" for k, v in run["versions"].items() if v)
                 + f"\n\nRepeat with: `{run['command']}`")
    return "\n\n".join(parts) + "\n"


STYLES = {"eager": ("s", "#ff7f0e"), "compile": ("D", "#d62728"), "max-autotune": ("^", "#9467bd"),
          "kb": ("o", "#1f77b4")}


def shares(records):
    """[(file, {column: its share of the copy floor})], the best kb first."""
    drawn = []
    for r in records:
        copy = r["columns"].get("copy")
        if copy:
            drawn.append((r["file"], {name: copy["us"] / r["columns"][name]["us"] for name in STYLES
                                      if name in r["columns"]}))
    return sorted(drawn, key=lambda row: -row[1].get("kb", 0))


def plot(records, folder):
    """plot.png, or without matplotlib plot.svg: the share of the copy floor that each column reaches, a row a file."""
    rows = shares(records)
    if not rows:
        return
    try:
        import matplotlib
    except ImportError:
        (folder / "plot.svg").write_text(svg(rows))
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axes = pyplot.subplots(figsize=(9, 1.6 + 0.3 * len(rows)))
    for name, (marker, colour) in STYLES.items():
        points = [(found[name], row) for row, (_, found) in enumerate(rows) if name in found]
        if points:
            axes.scatter(*zip(*points), marker=marker, color=colour, label=name, zorder=3 if name == "kb" else 2)
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [file for file, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel("time of a copy of as many bytes over time", fontsize="small")
    axes.legend(ncol=len(STYLES), loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(folder / "plot.png", dpi=130)
    pyplot.close(figure)


def svg(rows):
    """The plot by hand: circles on one line a file."""
    left, width, step, top = 220, 560, 22, 40
    widest = max(1.1, *(value for _, found in rows for value in found.values()))
    height = top + step * len(rows) + 30

    def x(value):
        return left + width * value / widest

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" height="{height}" '
             'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>',
             f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{top - 10}" y2="{height - 30}" stroke="#444"/>',
             f'<text x="{x(1):.1f}" y="{height - 12}" text-anchor="middle">a copy of as many bytes</text>']
    for i, name in enumerate(STYLES):
        parts.append(f'<circle cx="{left + 110 * i}" cy="14" r="5" fill="{STYLES[name][1]}"/>'
                     f'<text x="{left + 110 * i + 9}" y="18">{name}</text>')
    for row, (file, found) in enumerate(rows):
        y = top + step * row + step / 2
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{file}</text>')
        parts += [f'<circle cx="{x(value):.1f}" cy="{y}" r="5" fill="{STYLES[name][1]}"/>'
                  for name, value in found.items()]
    return "\n".join([*parts, "</svg>"]) + "\n"


def write(run, folder):
    """Writes results.json, report.md and the plot; the report's text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(run, indent=1) + "\n")
    report = text(run)
    (folder / "report.md").write_text(report)
    plot(run["files"], folder)
    return report
