"""Functions whose buffers are on a device: needs KB_CUDA_RUNTIME, and a driver (KB_CUDA_DRIVER: an emulated one will do)."""
import ctypes
import os
import tempfile
import unittest

import numpy as np

import kernelbrain
from kernelbrain import _tensors

SOURCE = """
#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%a: tensor<6x32xf32>, %b: tensor<32xf32>) -> tensor<6x32xf32> {
  %e = tensor.empty() : tensor<6x32xf32>
  %r = linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<6x32xf32>, tensor<32xf32>) outs(%e : tensor<6x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<6x32xf32>
  return %r : tensor<6x32xf32>
}
"""


@unittest.skipUnless(os.environ.get("KB_CUDA_RUNTIME"), "no CUDA runtime is named")
class DeviceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runtime = ctypes.CDLL(os.environ["KB_CUDA_RUNTIME"], mode=ctypes.RTLD_GLOBAL)
        cls.runtime.kbcuAllocate.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
        cls.runtime.kbcuCopy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
        cls.folder = tempfile.TemporaryDirectory()
        module = kernelbrain.optimize(SOURCE, target="cuda", placement="device", max_variants=2,
                                      store=cls.folder.name)
        if "kbcuLaunch" not in module.text:
            raise AssertionError(f"nothing was spliced:\n{module.log}")
        cls.library = module.compile(os.path.join(cls.folder.name, "module.so"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def to_device(self, array, strides=None):
        address = ctypes.c_void_p()
        self.assertEqual(self.runtime.kbcuAllocate(ctypes.byref(address), array.nbytes, None), 0)
        self.assertEqual(self.runtime.kbcuCopy(address, array.ctypes.data, array.nbytes, None), 0)
        self.addCleanup(self.runtime.kbcuFree, address, None)
        dense = [s // array.itemsize for s in array.strides]
        return _tensors.Result("f32", list(array.shape), strides or dense, address.value, None, (_tensors._CUDA, 0))

    def from_device(self, result):
        array = np.empty(result.shape, np.float32)
        self.assertEqual(self.runtime.kbcuCopy(array.ctypes.data, result.address, array.nbytes, None), 0)
        self.assertEqual(self.runtime.kbcuSynchronize(None), 0)
        return array

    def test_tensors_stay_on_the_device(self):
        a = np.arange(6 * 32, dtype=np.float32).reshape(6, 32)
        b = np.linspace(-1, 1, 32, dtype=np.float32)
        result = self.library.main(self.to_device(a), self.to_device(b))
        self.assertEqual(result.__dlpack_device__(), (_tensors._CUDA, 0))
        np.testing.assert_array_equal(self.from_device(result), a + b)

    def test_what_is_elsewhere_is_refused(self):
        a, b = np.zeros((6, 32), np.float32), np.zeros(32, np.float32)
        with self.assertRaisesRegex(ValueError, "argument 1 of main must be a tensor in the GPU's memory"):
            self.library.main(self.to_device(a), b)
        on_host = _tensors.Result("f32", [32], [1], b.ctypes.data, b, (_tensors._CPU, 0))
        with self.assertRaisesRegex(ValueError, "argument 1 of main is not in the GPU's memory"):
            self.library.main(self.to_device(a), on_host)
        with self.assertRaisesRegex(ValueError, "argument 0 of main is not dense"):
            self.library.main(self.to_device(a, strides=[1, 6]), self.to_device(b))

    def test_the_threads_stream_is_restored(self):
        self.runtime.kbcuGetStream.restype = ctypes.c_void_p
        a, b = np.zeros((6, 32), np.float32), np.zeros(32, np.float32)
        self.library.main(self.to_device(a), self.to_device(b), stream=0)
        self.assertIsNone(self.runtime.kbcuGetStream())


if __name__ == "__main__":
    unittest.main()
