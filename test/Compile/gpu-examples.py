"""Kernels of real programs by the stock lowering for GPUs, and some of them for every chip."""

# REQUIRES: ptxas
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %source/examples/device %S/Inputs/device | FileCheck %s

import glob
import os
import re
import subprocess
import sys

CHIPS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120")
EVERYWHERE = ("gemm_bf16_4096_bias_gelu", "layernorm_bf16", "fullsum_f32")


def kernels(path):
    """Modules of one kernel each."""
    text = subprocess.run(["kb-opt", path, "--kb-normalize", "--kb-outline"], check=True, capture_output=True,
                          text=True).stdout
    aliases = "\n".join(re.findall(r"^#.*", text, re.M))
    resources = re.search(r"^\{-#.*#-\}", text, re.M | re.S)
    for indent, body in re.findall(r"^( *)(kb\.kernel @.*?^\1\})", text, re.M | re.S):
        yield "\n".join((aliases, body, resources.group() if resources else ""))


count, refused = 0, []
for path in sorted(path for folder in sys.argv[2:] for path in glob.glob(os.path.join(folder, "*.mlir"))):
    name = os.path.basename(path)[:-5]
    for number, text in enumerate(kernels(path)):
        file = os.path.join(sys.argv[1], f"{name}.{number}.mlir")
        with open(file, "w") as out:
            out.write(text)
        for chip in CHIPS if name in EVERYWHERE else ("sm_90a",):
            built = subprocess.run(["kb-compile", "--emit=artifact", "--target=cuda", "--chip=" + chip, file],
                                   capture_output=True)
            # The host's side is the first ELF file, and holds the device's.
            if built.returncode or built.stdout.find(b"\x7fELF", 4) < 0:
                refused.append((name, number, chip, built.stderr))
            count += 1
# CHECK: all of {{[4-9][0-9]}}
print("all of" if not refused else refused, count)
