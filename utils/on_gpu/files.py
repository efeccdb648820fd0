"""Real files: searched, built, and compared with their stock lowering."""
import sys

import pipeline

from .host import ROOT, expect

NO_WINNERS = "module @kb.tuning_spec attributes {kb.spec_version = 1 : i64} {\n}\n"


def stock_on_device(check, source):
    """The program with every kernel in its stock lowering for the GPU, buffers there."""
    spec = check.folder / "none.spec"
    spec.write_text(NO_WINNERS)
    options = pipeline.options({"target": "cuda", "placement": "device", "spec": spec})
    check.run(check.host.tool("kb-opt"), source, "--kb-normalize", "--kb-outline", f"--kb-apply={options}",
              "--kb-splice=placement=device", "-o", check.folder / "stock.mlir")
    return check.folder / "stock.mlir"


def compare(check, source, placement):
    """A search on `source`, then its result beside the stock lowering on the same inputs: that for the CPU, or with
    placement `device` that for the GPU, with buffers there."""
    on_device = placement == "device"
    printed = check.optimize(source, placement=placement, budget_seconds=check.host.seconds)
    improved = next((line.strip() for line in printed.splitlines() if " improved" in line), "nothing to search")
    binaries = (check.folder / "fast.mlir").read_text().count("gpu.binary @")
    stock = stock_on_device(check, source) if on_device else source
    objects = [check.compile(stock, "stock.so"), check.compile(check.folder / "fast.mlir", "fast.so")]
    where = ["--device", check.host.runtime()] if on_device else []
    compared, status = check.run(sys.executable, ROOT / "utils/compare.py", source, *objects, "--runs", "0", *where, may_fail=True)
    errors = (compared.strip().splitlines() or ["no message"])[-1].rpartition("fast.so: ")[2]
    expect(status == 0, f"the results differ from the stock lowering: {errors[:160]}")
    expect(binaries, "no kernel is on the GPU")
    return f"{improved}, {binaries} on the GPU; {errors}"
