"""Programs are compared by hand: one that hangs, and one that is better than the baseline."""

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t | FileCheck %s

import json
import subprocess
import sys
import time

FOLDER = sys.argv[1]


def compiled(name, text, *flags):
    path = FOLDER + "/" + name + ".so"
    subprocess.run(["kb-compile", "-", "-o", path, *flags], input=text.encode(), check=True)
    return path


class Worker:
    def __init__(self):
        self.process = subprocess.Popen(
            ["kb-worker", "--lease-file=" + FOLDER + "/lease"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.request({"type": "hello", "id": 1, "protocol": 1})

    def request(self, message):
        text = json.dumps(message).encode()
        self.process.stdin.write(b"%d 0\n%s" % (len(text), text))
        self.process.stdin.flush()
        size, _ = self.process.stdout.readline().split()
        return json.loads(self.process.stdout.read(int(size)))

    def compare(self, baseline, candidate, reference=""):
        reply = self.request(
            {
                "type": "program",
                "id": 2,
                "seed": "7",
                "baseline": baseline,
                "candidate": candidate,
                "reference": reference,
            }
        )
        return reply["functions"][0]


STORE = """
func.func @store(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  memref.store %v, %x[%c1] : memref<8xf32>
  return
}
"""
# No value that is drawn is below the limit, which the compiler does not know.
ENDLESS = """
func.func @store(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant -1.0e9 : f32
  scf.while : () -> () {
    %v = memref.load %x[%c0] : memref<8xf32>
    memref.store %v, %x[%c1] : memref<8xf32>
    %more = arith.cmpf ogt, %v, %limit : f32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}
"""
worker = Worker()
begin = time.time()
verdict = worker.compare(compiled("store", STORE), compiled("endless", ENDLESS))
print("hung:", verdict["disposition"], verdict["reason"], "soon" if time.time() - begin < 60 else "late")
# CHECK: hung: timed_out no answer within 3{{[0-9]+}} ms soon


def total(accumulator, extend, truncate, zero):
    """Sums of 4000 exponentials, accumulated in `accumulator`."""
    return f"""
func.func @sum(%x: tensor<8x4000xbf16>) -> tensor<8xbf16> {{
  %zero = arith.constant {zero} : {accumulator}
  %empty = tensor.empty() : tensor<8x{accumulator}>
  %init = linalg.fill ins(%zero : {accumulator}) outs(%empty : tensor<8x{accumulator}>) -> tensor<8x{accumulator}>
  %sum = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<8x4000xbf16>) outs(%init : tensor<8x{accumulator}>) {{
  ^bb0(%a: bf16, %s: {accumulator}):
    %square = arith.mulf %a, %a : bf16
    {extend.format("%wide", "%square")}
    %next = arith.addf %wide, %s : {accumulator}
    linalg.yield %next : {accumulator}
  }} -> tensor<8x{accumulator}>
  {truncate}
}}
"""


STOCK = total("bf16", "{} = arith.addf {}, %zero : bf16", "return %sum : tensor<8xbf16>", "-0.0")
BETTER = total(
    "f32",
    "{} = arith.extf {} : bf16 to f32",
    """%out = tensor.empty() : tensor<8xbf16>
  %narrow = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%sum : tensor<8xf32>) outs(%out : tensor<8xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8xbf16>
  return %narrow : tensor<8xbf16>""",
    "0.0",
)
stock, better = compiled("stock", STOCK), compiled("better", BETTER)
reference = compiled("reference", STOCK, "--promote-floats")
# A sum in bf16 stops to grow at 256: each square is below half a unit there.
print("alone:", worker.compare(stock, better)["disposition"])
# CHECK: alone: incorrect
print("with a reference:", worker.compare(stock, better, reference)["disposition"])
# CHECK: with a reference: {{passed|slower|unstable}}
print("the wrong way:", worker.compare(better, stock, reference)["disposition"])
# CHECK: the wrong way: incorrect


def accumulate(fresh):
    """Row sums onto the second argument: in its buffer, or in one of the function's own."""
    init = "%c" if not fresh else "%copy"
    copy = """%empty = bufferization.alloc_tensor() copy(%c) : tensor<64xf32>
  %copy = linalg.copy ins(%c : tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>"""
    return f"""
func.func @sum(%x: tensor<64x128xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {{
  {copy if fresh else ""}
  %sum = linalg.reduce {{ arith.addf }} ins(%x : tensor<64x128xf32>) outs({init} : tensor<64xf32>) dimensions = [1]
  return %sum : tensor<64xf32>
}}
"""


# Tensors are values: their callers must not look at what is left of the buffer. Memrefs are written for them.
in_place, fresh = compiled("in_place", accumulate(False)), compiled("fresh", accumulate(True))
print("not in place:", worker.compare(in_place, fresh)["disposition"])
# CHECK: not in place: {{passed|slower|unstable}}
print("in place alone:", worker.compare(fresh, in_place)["reason"])
# CHECK: in place alone: changed argument 1
UNCHANGED = "func.func @store(%x: memref<8xf32>) { return }"
print("not stored:", worker.compare(compiled("store", STORE), compiled("unchanged", UNCHANGED))["reason"])
# CHECK: not stored: leaves argument 0 other than the baseline does
strided = compiled("strided", STORE.replace("memref<8xf32>", "memref<8xf32, strided<[3]>>"))
verdict = worker.compare(strided, strided)
print("strided:", verdict["disposition"], verdict["reason"])
# CHECK: strided: not_run argument 0 is a memref that must not be dense
anyhow = compiled("anyhow", STORE.replace("memref<8xf32>", "memref<8xf32, strided<[?], offset: ?>>"))
print("any strides:", worker.compare(anyhow, anyhow)["disposition"])
# CHECK: any strides: {{passed|slower|unstable}}
