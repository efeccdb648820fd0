#!/usr/bin/env python3
"""A kb-compile that plants a regression: what it builds ahead of time is slow, or wrong, or does not compile, if something is spliced
into it. The name that it is started by ends in -slow, -wrong or -broken; the file `real` beside it names the folder of the real one."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
HOW = sys.argv[0].rsplit("-", 1)[1]
REAL = open(os.path.join(HERE, "real")).read().strip() + "/kb-compile"

# The sum is not known to the compiler, so that the loop stays.
SLOW = """
    %kb_0 = arith.constant 0 : index
    %kb_1 = arith.constant 1 : index
    %kb_n = arith.constant 3000000 : index
    %kb_f = arith.constant 1.0 : f32
    %kb_s = scf.for %kb_i = %kb_0 to %kb_n step %kb_1 iter_args(%kb_a = %kb_f) -> f32 {
      %kb_b = arith.divf %kb_f, %kb_a : f32
      %kb_c = arith.addf %kb_b, %kb_f : f32
      scf.yield %kb_c : f32
    }
    %kb_ok = arith.cmpf one, %kb_s, %kb_f : f32
    cf.assert %kb_ok, "never"
"""
WRONG = """
    %kb_0 = arith.constant 0 : index
    %kb_f = arith.constant 1.0e3 : f32
    memref.store %kb_f, {0}[%kb_0, %kb_0] : {1}
"""


def plant(text):
    body = text.index("{", text.index("memref<", text.index("func.func @main(")))
    if HOW == "slow":
        return text[:body + 1] + SLOW + text[body + 1:]
    if HOW == "broken":
        return text[:body + 1] + "\n    this is no operation\n" + text[body + 1:]
    found = re.compile(r"return (%\w+) : (memref<[^>]*>)").search(text, body)
    return text[:found.start()] + WRONG.format(*found.groups()) + text[found.start():]


arguments = sys.argv[1:]
if "--serve" not in arguments:
    text = open(arguments[0], "rb").read()
    if b"_impl(" in text and text.startswith((b"#", b"module")):
        planted = arguments[0] + ".planted.mlir"
        open(planted, "w").write(plant(text.decode()))
        arguments[0] = planted
os.execv(REAL, [REAL] + arguments)
