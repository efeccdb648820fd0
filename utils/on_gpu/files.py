"""Real files: searched, built, and compared with their stock lowering."""
import sys

from .host import ROOT, expect
from .programs import need_torch

UTILS = ROOT / "utils"


def stock_on_device(check, source):
    """The program with every kernel in its stock lowering for the GPU, buffers there."""
    check.run(check.host.tool("kb-opt"), source, "--kb-normalize", "--kb-outline",
              f"--kb-apply=target=cuda placement=device store={check.folder / 'empty-store'}", "--kb-splice",
              "-o", check.folder / "stock.mlir")
    return check.folder / "stock.mlir"


def compare(check, source, placement):
    """A search on `source`, then its result beside the stock lowering on the same inputs: on the CPU, or with
    placement `device` that for the GPU, which PyTorch's tensors go into."""
    on_device = placement == "device"
    if on_device:
        need_torch(check)
    printed = check.optimize(source, placement=placement, budget_seconds=check.host.seconds)
    improved = next((line.strip() for line in printed.splitlines() if " improved" in line), "nothing to search")
    binaries = (check.folder / "fast.mlir").read_text().count("gpu.binary @")
    stock = stock_on_device(check, source) if on_device else source
    objects = [check.compile(stock, "stock.so"), check.compile(check.folder / "fast.mlir", "fast.so")]
    script = ["on_gpu/compare_on_device.py"] if on_device else ["compare.py", "--runs", "0"]
    compared, status = check.run(sys.executable, UTILS / script[0], source, *objects, *script[1:], may_fail=True)
    errors = (compared.strip().splitlines() or ["no message"])[-1].rpartition("fast.so: ")[2]
    expect(status == 0, f"the results differ from the stock lowering: {errors[:160]}")
    expect(binaries, "no kernel is on the GPU")
    return f"{improved}, {binaries} on the GPU; {errors}"
