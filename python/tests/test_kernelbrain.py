"""Needs kb-opt, kb-compile and kb-worker as the package finds them. What needs PyTorch is skipped without it."""
import _ctypes
import gc
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from unittest import mock

import numpy as np

import kernelbrain

try:
    import torch
except ImportError:
    torch = None

SOURCE = """
#rows = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>
func.func @add(%a: tensor<?x8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#rows, #column, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %r, %b : tensor<?x8xf32>, tensor<8xf32>
}
func.func @square(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.mul ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @twice(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.add ins(%a, %a : tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}
func.func @sum(%a: tensor<6xi64>) -> tensor<i64> {
  %zero = arith.constant dense<0> : tensor<i64>
  %r = linalg.reduce ins(%a : tensor<6xi64>) outs(%zero : tensor<i64>) dimensions = [0]
    (%x: i64, %s: i64) { %t = arith.addi %x, %s : i64 linalg.yield %t : i64 }
  return %r : tensor<i64>
}
func.func @scale(%a: tensor<4xf32>, %s: f32) -> (f32, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%a, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %s, %r : f32, tensor<4xf32>
}
func.func @scalars(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f64, %g: index)
    -> (i1, i8, i16, i32, i64, f64, index) {
  return %a, %b, %c, %d, %e, %f, %g : i1, i8, i16, i32, i64, f64, index
}
func.func @negate(%a: f64) -> f64 {
  %r = arith.negf %a : f64
  return %r : f64
}
func.func @is_odd(%a: i32) -> i1 {
  %r = arith.trunci %a : i32 to i1
  return %r : i1
}
func.func @half(%a: f16) {
  return
}
func.func @halves(%a: tensor<4xf32>) -> (f16, tensor<4xf32>) {
  %r = arith.constant 1.0 : f16
  return %r, %a : f16, tensor<4xf32>
}
func.func @nothing(%a: tensor<6xi1>) {
  return
}
"""

LAYOUTS = """
func.func @copy(%a: memref<3x8xf32>, %b: memref<3x8xf32, strided<[20, 1], offset: ?>>) {
  linalg.copy ins(%a : memref<3x8xf32>) outs(%b : memref<3x8xf32, strided<[20, 1], offset: ?>>)
  return
}
func.func @anyhow(%a: memref<3x8xf32, strided<[?, 1]>>, %b: memref<?x8xf32, strided<[?, ?], offset: ?>>) {
  %c = memref.cast %b : memref<?x8xf32, strided<[?, ?], offset: ?>> to memref<3x8xf32, strided<[?, ?], offset: ?>>
  linalg.copy ins(%a : memref<3x8xf32, strided<[?, 1]>>) outs(%c : memref<3x8xf32, strided<[?, ?], offset: ?>>)
  return
}
func.func @shift(%a: memref<4xf32, strided<[1], offset: 1>>, %b: memref<8xf32>) {
  %c = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  linalg.copy ins(%a : memref<4xf32, strided<[1], offset: 1>>) outs(%c : memref<4xf32, strided<[1]>>)
  return
}
"""


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = kernelbrain.compile(SOURCE)
        cls.a = np.arange(24, dtype=np.float32).reshape(3, 8)
        cls.b = np.ones(8, np.float32)

    def test_results(self):
        total, b = self.library.add(self.a, self.b)
        np.testing.assert_array_equal(total, self.a + 1)
        np.testing.assert_array_equal(b, self.b)
        self.assertTrue(total.flags.writeable)
        self.assertEqual(self.library.sum(np.arange(6)), 15)
        self.assertIsNone(self.library.nothing(np.zeros(6, bool)))
        self.assertEqual(self.library["add"](self.a[:0], self.b)[0].shape, (0, 8))

    def test_results_outlive_the_library_call(self):
        results = [self.library.add(self.a + i, self.b)[0] for i in range(50)]
        gc.collect()
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, self.a + i + 1)
        view = results[3][1:, ::2]
        del results, result
        gc.collect()
        np.testing.assert_array_equal(view, (self.a + 4)[1:, ::2])

    def test_strided_and_read_only_arguments_are_copied(self):
        wide = np.asfortranarray(self.a)
        np.testing.assert_array_equal(self.library.add(wide, self.b)[0], self.a + 1)
        frozen = np.ones(8, np.float32)
        frozen.flags.writeable = False
        np.testing.assert_array_equal(self.library.square(self.b * 3, frozen), self.b * 9)
        np.testing.assert_array_equal(frozen, 1)

    def test_layouts_of_memrefs(self):
        library = kernelbrain.compile(LAYOUTS)
        a, wide = np.arange(24, dtype=np.float32).reshape(3, 8), np.zeros((3, 20), np.float32)
        library.copy(a, wide[:, 4:12])
        np.testing.assert_array_equal(wide[:, 4:12], a)
        self.assertEqual(np.count_nonzero(wide), 23)
        turned = np.zeros((8, 3), np.float32)
        library.anyhow(wide[:, 4:12], turned.T)
        np.testing.assert_array_equal(turned, a.T)
        line = np.arange(8, dtype=np.float32)
        library.shift(line[1:5], line)
        np.testing.assert_array_equal(line, [1, 2, 3, 4, 4, 5, 6, 7])
        frozen = wide[:, :8]
        frozen.flags.writeable = False
        for text, function, arguments in (
                (r"argument 1 of copy must have strides of \(20, 1\) elements, not \(8, 1\)", library.copy, (a, a + 1)),
                (r"must have strides of \(20, 1\) elements, not \(20, 2\)", library.copy, (a, wide[:, ::2][:, :8])),
                (r"argument 1 of copy must be writable", library.copy, (a, frozen)),
                (r"argument 1 of copy must be 3x8xf32, not of shape \(3, 4\)", library.copy, (a, wide[:, :4])),
                (r"argument 0 of shift must have strides of \(1\) elements", library.shift, (line[::2], line))):
            with self.assertRaisesRegex(ValueError, text):
                function(*arguments)
        if torch:
            room = torch.zeros(3, 20)
            library.copy(a, room[:, :8])
            np.testing.assert_array_equal(room[:, :8].numpy(), a)
            with self.assertRaisesRegex(ValueError, r"strides of \(20, 1\) elements, not \(8, 1\)"):
                library.copy(a, torch.zeros(3, 8))

    def test_dlpack_of_any_library(self):
        class Other:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        np.testing.assert_array_equal(self.library.add(Other(self.a), Other(self.b))[0], self.a + 1)
        np.testing.assert_array_equal(self.library.add(Other(self.a[::2]), self.b)[0], self.a[::2] + 1)

        class Device(Other):
            def __dlpack_device__(self):
                return (2, 0)

        with self.assertRaisesRegex(ValueError, "argument 0 of add is not in the CPU's memory"):
            self.library.add(Device(self.a), self.b)

    def test_results_speak_dlpack(self):
        a = np.arange(3, dtype=np.float32)
        result = kernelbrain._tensors.Result("f32", [3], [1], a.ctypes.data, a)
        held = len(kernelbrain._tensors._exported)
        taken = np.from_dlpack(result)
        np.testing.assert_array_equal(taken, a)
        self.assertEqual(len(kernelbrain._tensors._exported), held + 1)
        del taken
        result.__dlpack__()  # nobody takes it
        gc.collect()
        self.assertEqual(len(kernelbrain._tensors._exported), held)

    def test_arguments_that_do_not_fit(self):
        add = self.library.add
        for error, text, arguments in (
                (TypeError, r"add takes 2 arguments \(1 given\)", (self.a,)),
                (TypeError, "argument 0 of add must be of f32, not f64", (self.a.astype(float), self.b)),
                (TypeError, "argument 1 of add is a list", (self.a, [1.0])),
                (TypeError, "argument 0 of add has the element type complex64", (self.a.astype(np.complex64), self.b)),
                (ValueError, r"argument 0 of add must be n0x8xf32, not of shape \(8,\)", (self.b, self.b)),
                (ValueError, r"argument 1 of add must be 8xf32, not of shape \(4,\)", (self.a, self.b[:4]))):
            with self.assertRaisesRegex(error, text):
                add(*arguments)

    def test_scalars(self):
        a = np.arange(4, dtype=np.float32)
        for scalar in (3.0, 3, np.float32(3), np.array(3, np.float32)):
            same, scaled = self.library.scale(a, scalar)
            self.assertEqual(same, 3.0)
            np.testing.assert_array_equal(scaled, a * 3)
        for values in ((True, -128, -2**15, -2**31, -2**63, 0.1, 7),
                       (False, 127, 2**15 - 1, 2**31 - 1, 2**63 - 1, -0.0, -1)):
            self.assertEqual(self.library.scalars(*values), values)
        self.assertEqual(self.library.negate(np.float64(2.5)), -2.5)
        self.assertEqual([self.library.is_odd(i) for i in (6, 7)], [False, True])

    def test_scalars_that_do_not_fit(self):
        a, fitting = np.zeros(4, np.float32), [True, 1, 1, 1, 1, 1.0, 1]
        for error, text, function, arguments in (
                (TypeError, "argument 1 of scale must be of f32, not f64", "scale", (a, np.float64(3))),
                (TypeError, "argument 1 of scale must be of f32, not a bool", "scale", (a, True)),
                (TypeError, "argument 1 of scale must be of f32, not a str", "scale", (a, "3")),
                (TypeError, "argument 1 of scale must be of f32, not a NoneType", "scale", (a, None)),
                (ValueError, r"argument 1 of scale must be a scalar, not of shape \(4,\)", "scale", (a, a)),
                (TypeError, "argument 0 of scalars must be of i1, not a int", "scalars", [1, *fitting[1:]]),
                (ValueError, "argument 1 of scalars: 128 does not fit into i8", "scalars", [True, 128, *fitting[2:]]),
                (TypeError, "argument 6 of scalars must be of index, not a float", "scalars", [*fitting[:6], 1.0]),
                (TypeError, "argument 0 of half is a scalar of f16", "half", (1.0,)),
                (TypeError, "result 0 of halves is a scalar of f16", "halves", (a,))):
            with self.assertRaisesRegex(error, text):
                self.library[function](*arguments)

    def test_names(self):
        self.assertEqual(list(self.library), ["add", "square", "twice", "sum", "scale", "scalars", "negate", "is_odd",
                                              "half", "halves", "nothing"])
        self.assertIn("add(n0x8xf32, 8xf32) -> ", repr(self.library))
        self.assertIn("add", dir(self.library))
        with self.assertRaisesRegex(AttributeError, "has no function 'subtract'"):
            self.library.subtract
        with self.assertRaises(KeyError):
            self.library["subtract"]

    def test_threads(self):
        wrong = []

        def work(i):
            for _ in range(50):
                if not np.array_equal(self.library.add(self.a * i, self.b)[0], self.a * i + 1):
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipIf(kernelbrain._tensors._BFLOAT16 is not None, "ml_dtypes is here")
    def test_bfloat16_needs_a_library_that_has_it(self):
        with self.assertRaisesRegex(TypeError, "argument 0 of twice must be of bf16, not f32"):
            self.library.twice(np.zeros(4, np.float32))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_torch(self):
        a, b = torch.from_numpy(self.a), torch.ones(8)
        total, same = self.library.add(a, b)
        self.assertIsInstance(total, torch.Tensor)
        self.assertTrue(torch.equal(total, a + 1) and torch.equal(same, b))
        twice = self.library.twice(torch.arange(4, dtype=torch.bfloat16))
        self.assertEqual(twice.dtype, torch.bfloat16)
        self.assertEqual(twice.tolist(), [0, 2, 4, 6])
        self.assertTrue(torch.equal(self.library.add(torch.ones(8, 3).t(), b)[0], torch.full((3, 8), 2.0)))
        held = len(kernelbrain._tensors._exported)
        del total, same, twice
        gc.collect()
        self.assertLess(len(kernelbrain._tensors._exported), held)
        with self.assertRaises(BufferError):
            self.library.add(a.clone().requires_grad_(), b)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text=None, executable=False):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(textwrap.dedent(text))
            if executable:
                os.chmod(path, stat.S_IRWXU)
        return path

    def read(self, name):
        try:
            with open(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def test_load(self):
        kernelbrain.compile(SOURCE, self.path("m.so"), header=self.path("m.h"))
        self.assertTrue(os.path.exists(self.path("m.h")))
        self.assertEqual(kernelbrain.load(self.path("m.so")).sum(np.arange(6)), 15)
        with self.assertRaises(kernelbrain.LoadError):
            kernelbrain.load(self.path("none.so"))
        with self.assertRaises(kernelbrain.LoadError):
            kernelbrain.load(self.path("text.so", "not an object"))
        with self.assertRaisesRegex(kernelbrain.LoadError, "not made by kb-compile"):
            kernelbrain.load(_ctypes.__file__)

    def test_optimize(self):
        module = kernelbrain.optimize(SOURCE, max_variants=2, seed=3, kernels="add", fresh=True,
                                      store=self.path("a store"))
        self.assertIn("func.func @add", str(module))
        self.assertTrue(os.path.exists(self.path("a store")))
        self.assertIn("add", module.log)
        module.save(self.path("m.mlir"))
        library = kernelbrain.compile(self.path("m.mlir"))
        a, b = np.ones((2, 8), np.float32), np.arange(8, dtype=np.float32)
        np.testing.assert_array_equal(library.add(a, b)[0], a + b)
        np.testing.assert_array_equal(module.compile(self.path("m.so")).add(a, b)[0], a + b)

    def test_failures(self):
        with self.assertRaises(FileNotFoundError):
            kernelbrain.optimize(self.path("none.mlir"))
        with self.assertRaises(kernelbrain.ToolError) as caught:
            kernelbrain.optimize("func.func @f() {")
        self.assertEqual(caught.exception.status, 1)
        self.assertIn("error:", caught.exception.diagnostics)
        with self.assertRaisesRegex(kernelbrain.ToolError, "no-such-option"):
            kernelbrain.optimize(SOURCE, no_such_option=1)
        with self.assertRaises(kernelbrain.ToolError):
            kernelbrain.compile(SOURCE, self.path("no/folder.so"))
        with mock.patch.dict(os.environ, {"KB_OPT": self.path("kb-opt")}):
            with self.assertRaisesRegex(kernelbrain.ToolError, "cannot run"):
                kernelbrain.optimize(SOURCE)
        with mock.patch.dict(os.environ, {"PATH": self.folder}):
            with self.assertRaisesRegex(kernelbrain.ToolError, "neither on PATH nor named by KB_COMPILE"):
                kernelbrain.compile(SOURCE)
        crash = self.path("crash", "#!/bin/sh\nkill -9 $$\n", executable=True)
        with mock.patch.dict(os.environ, {"KB_COMPILE": crash}):
            with self.assertRaisesRegex(kernelbrain.ToolError, "ended by signal 9"):
                kernelbrain.compile(SOURCE * 1000)

    def test_options_are_quoted(self):
        option = kernelbrain._tools._option
        self.assertEqual(option("budget_seconds", 20), "budget-seconds=20")
        self.assertEqual(option("fresh", True), "fresh=true")
        self.assertEqual(option("store", "a b"), "store='a b'")
        self.assertEqual(option("store", "it's"), 'store="it\'s"')
        with self.assertRaises(ValueError):
            option("store", "'\"{")

    def test_interrupt_ends_the_tool(self):
        tool = self.path("tool", f"""\
            #!{sys.executable}
            import os, time
            time.sleep(0.5)  # by now whoever started this waits for it
            open({self.path('pid')!r}, "w").write(str(os.getpid()))
            time.sleep(60)
            """, executable=True)
        script = self.path("script.py", f"""\
            import kernelbrain, signal
            signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where this runs in the background
            kernelbrain.optimize({SOURCE!r})
            """)
        process = subprocess.Popen([sys.executable, script], env={**os.environ, "KB_OPT": tool,
                                   "PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.DEVNULL)
        while not (pid := self.read("pid")):
            time.sleep(0.01)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(process.wait(timeout=20), 0)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid), 0)


if __name__ == "__main__":
    unittest.main()
