"""Searches the kernels of files with kb-opt, several files at a time, and gathers the winners' shared objects beside the
plan that says how they are called: FOLDER/<column>/<file>/."""
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import builds
import gpus
import pipeline
import plans
import searchlog
from workloads import WorkloadError

GRACE_SECONDS = 30  # from an interrupt of kb-opt until it has ended with the best so far


def winners(events):
    """({kernel: shared object}, kernels whose best was not accepted yet): the accepted variant, or the baseline where
    none was accepted; of a search that did not come to its end the best so far."""
    chosen = {e["kernel"]: e["artifact"] for e in searchlog.of_type(events, "baseline")}
    artifacts = {(e["kernel"], e["ticket"]): e["artifact"] for e in searchlog.of_type(events, "trial")}
    finished = {e["kernel"] for e in searchlog.of_type(events, "kernel_finished")}
    unproven = {e["kernel"]: artifacts[e["kernel"], e["ticket"]] for e in searchlog.of_type(events, "incumbent")
                if e["kernel"] not in finished}
    rolled_back = {(e["kernel"], e["ticket"]) for e in searchlog.of_type(events, "rolled_back")}
    accepted = {e["kernel"]: e["artifact"] for e in searchlog.of_type(events, "accepted")
                if (e["kernel"], e["ticket"]) not in rolled_back}
    return {**chosen, **unproven, **accepted}, sorted(unproven.keys() - accepted.keys())


def first_proposals(events):
    """({kernel: shared object}, kernels whose first proposal is wrong): what ticket 1 proposed, or the baseline."""
    chosen, wrong = {e["kernel"]: e["artifact"] for e in searchlog.of_type(events, "baseline")}, []
    for trial in searchlog.of_type(events, "trial"):
        if trial["ticket"] == 1:
            if trial["measurement"]["disposition"] in ("passed", "slower", "unstable"):
                chosen[trial["kernel"]] = trial["artifact"]
            else:
                wrong.append(trial["kernel"])
    return chosen, wrong


def gather(plan, chosen, folder, notes):
    """Puts the kernels of a plan and the plan itself into `folder`."""
    if missing := set(plan.kernels()) - chosen.keys():
        raise WorkloadError(f"the search left no artifact of {', '.join(sorted(missing))}")
    folder.mkdir(parents=True, exist_ok=True)
    for kernel in plan.kernels():
        shutil.copyfile(chosen[kernel], folder / f"{kernel}.so")
    (folder / "plan.json").write_text(json.dumps(plan.to_json(), indent=1) + "\n")
    (folder / "notes.json").write_text(json.dumps(notes))


def run_limited(command, seconds, environment, log):
    """Runs kb-opt, interrupts it when its time is over, and kills it when it does not heed that; (seconds it took,
    whether it was interrupted). BuildError if it fails by itself."""
    start, interrupted = time.monotonic(), False
    with open(log, "a+") as file:
        file.write("$ " + " ".join(map(str, command)) + "\n")
        file.flush()
        begin = file.tell()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment)
        except OSError:
            raise builds.BuildError(f"no {command[0]}") from None
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            interrupted = True
            child.send_signal(signal.SIGINT)
            try:
                child.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        finally:
            if child.poll() is None:
                child.kill()  # its children end without it
                child.wait()
        interrupted |= child.returncode == 130
        if child.returncode and not interrupted:
            file.seek(begin)
            raise builds.BuildError(f"kb-opt: {builds.reason_of(file.read())} (exit status {child.returncode})")
    return time.monotonic() - start, interrupted


def search(source, tools, folder, seconds, options, environment=None):
    """Fills `folder` with plan.json, the kernels, search.jsonl and what the tools printed. After `seconds` what is
    known is taken. WorkloadError if that is nothing. Returns the plan and the events."""
    folder.mkdir(parents=True, exist_ok=True)
    log, path = folder / "search.log", folder / "search.jsonl"
    kb_opt = pathlib.Path(tools) / "bin" / "kb-opt"
    try:
        outlined = folder / "outlined.mlir"
        builds.run([kb_opt, source, "--kb-normalize", "--kb-outline", "-o", outlined], 120, log)
        plan = plans.parse(outlined.read_text())
        given = {"target": "cuda", "placement": "device", "fresh": "true", "store": folder / "store", "log": path,
                 **options}
        took, interrupted = run_limited([kb_opt, source, f"--kb-optimize={pipeline.options(given)}", "-o",
                                         folder / "optimized.mlir"], seconds, environment or os.environ, log)
        events = searchlog.read_events(path) if path.exists() else []
        chosen, unproven = winners(events)
        notes = [f"the search was ended after {took:.0f} s"] if interrupted else []
        notes += [f"{kernel} is the best so far, not accepted" for kernel in unproven]
        gather(plan, chosen, folder, notes)
    except (builds.BuildError, OSError) as error:
        raise WorkloadError(str(error)) from error
    found = {**searchlog.outcome(path), "progress": searchlog.progress(path), "total_seconds": round(took, 1),
             "utilisation": searchlog.utilisation(path, int(options.get("compile-jobs", 0)))}
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
    return plan, events


def summary(folder):
    """What came of the search in `folder`; {} without one. WorkloadError if it failed."""
    failed, path = pathlib.Path(folder) / "failed.txt", pathlib.Path(folder) / "summary.json"
    if failed.exists():
        raise WorkloadError(failed.read_text())
    return json.loads(path.read_text()) if path.exists() else {}


def one(source, tools, built, column, seconds, options, with_first, deadline, gpu):
    """A search of one file on one GPU, unless it is too late; its first proposal is a column of its own, at no cost."""
    folder = built / column / source.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if time.monotonic() > deadline:
            raise WorkloadError("the time for searches is over")
        plan, events = search(source, tools, folder, seconds, options, gpus.on(gpu))
        if with_first:
            chosen, wrong = first_proposals(events)
            gather(plan, chosen, built / "kb-first" / source.stem,
                   [f"the first proposal of {kernel} is wrong: stock" for kernel in wrong])
    except WorkloadError as error:
        (folder / "failed.txt").write_text(str(error))
        raise
    finally:
        shutil.rmtree(folder / "store", ignore_errors=True)


def all_files(sources, tools, built, columns, limits, options, per_gpu, tell):
    """Searches for the columns `kb` and `kb-random`; `kb-first` comes of the former. Of `limits`, `file` are the seconds
    of one search, and none begins when `all` are over (0: no limit). `tell(line)` hears of each end."""
    found, start = gpus.visible(), time.monotonic()
    deadline = start + limits["all"] if limits["all"] else float("inf")
    if not found:
        raise WorkloadError("no GPU: there is no usable CUDA driver")
    options = options | {"compile-jobs": max(1, (os.cpu_count() or 1) // (len(found) * per_gpu))}
    wanted = [("kb", {}, "kb-first" in columns)] if {"kb", "kb-first"} & set(columns) else []
    wanted += [("kb-random", {"proposer": "random"}, False)] if "kb-random" in columns else []

    def job_of(source, column, extra, with_first):
        job = functools.partial(one, source, tools, built, column, limits["file"], options | extra, with_first, deadline)
        job.name = f"{column} {source.stem}"
        return job

    jobs = [job_of(source, *column) for column in wanted for source in sources]
    gpus.side_by_side(jobs, found, per_gpu, lambda job, _, error: tell(
        f"{time.monotonic() - start:5.0f} s  searched {job.name}" + (f": {error}" if error else "")))
