"""What is timed: a `Column` is one way to run a file, bound to its inputs. All columns of a file read the very same
input memory (IREE, which wants buffers of its own, a copy)."""
import pathlib

import numpy as np

from builds import BuildError  # and what lies in utils
from catalogue import CLASSES, PRODUCTS

import ciface


class Column:
    """`call()` runs once and keeps what it returned until `release()`; `take()` gives it as arrays and releases."""

    def __init__(self, function, to_arrays):
        self._function, self._to_arrays, self._value = function, to_arrays, None

    def call(self):
        self._value = self._function()

    def release(self):
        self._value = None

    def take(self):
        arrays = self._to_arrays(self._value)
        self.release()
        return arrays


class EntryColumn:
    """A `Column` of a shared object."""

    def __init__(self, path, arrays, results):
        self._entry = ciface.Entry(path, arrays, results)
        self.call, self.release, self.take = self._entry, self._entry.release, self._entry.take


def torch_arrays(value):
    return [t.detach().cpu().numpy().copy() for t in (value if isinstance(value, tuple) else (value,))]


class Workload:
    """One file: its inputs, a reference in f64 where there is a torch form, and its columns as they are asked for."""

    def __init__(self, source, seed, dynamic_dim):
        self.source, self.name = pathlib.Path(source), pathlib.Path(source).stem
        self.kind = CLASSES.get(self.name, "other")
        inputs, self.results = ciface.signature(source)
        self.module, self.no_torch = None, "no torch form"
        try:
            import workloads
            made = workloads.make(self.name, seed)
        except ImportError as error:
            made, self.no_torch = None, str(error)
        if made:
            self.module, self.inputs = made
            tensors = [*self.inputs, *workloads.tensors(self.module)]
            self.arrays = [t.detach().numpy() for t in tensors]
            expected = [(shape, np.dtype(dtype)) for shape, dtype in inputs]
            actual = [(list(a.shape), a.dtype) for a in self.arrays]
            if expected != actual:
                raise BuildError(f"workload and file differ in signature: {actual} and {expected}")
        else:
            random = ciface.random_inputs(inputs, seed, dynamic_dim)
            self.arrays = [ciface.aligned_copy(a) for a in random]
        self._originals = [a.tobytes() for a in self.arrays]

    def inputs_changed(self):
        return any(a.tobytes() != b for a, b in zip(self.arrays, self._originals))

    def reference(self):
        """What the function gives when computed in f64, or None."""
        if self.module is None:
            return None
        import copy
        import torch
        with torch.no_grad():
            wide = copy.deepcopy(self.module).double()
            return torch_arrays(wide(*(t.double() if t.is_floating_point() else t for t in self.inputs)))

    def eager(self):
        if self.module is None:
            raise BuildError(self.no_torch)
        return Column(lambda: self.module(*self.inputs), torch_arrays)

    def compiled(self):
        if self.module is None:
            raise BuildError(self.no_torch)
        import torch
        torch._dynamo.reset()
        compiled = torch.compile(self.module)
        try:
            compiled(*self.inputs)
        except Exception as error:  # whatever the compiler ran into is the reason
            raise BuildError(f"torch.compile: {type(error).__name__}: {str(error).splitlines()[0][:160]}") from error
        return Column(lambda: compiled(*self.inputs), torch_arrays)

    def blas(self):
        """NumPy's OpenBLAS, for what is one product."""
        if self.name not in PRODUCTS:
            raise BuildError("not one product of matrices")
        left, right = self.arrays
        if PRODUCTS[self.name] == "NT":
            right = right.swapaxes(-1, -2)
        return Column(lambda: np.matmul(left, right), lambda value: [value])

    def shared_object(self, path):
        try:
            return EntryColumn(path, self.arrays, self.results)
        except (OSError, ciface.SignatureError) as error:
            raise BuildError(str(error)) from error

    def iree(self, path):
        try:
            import iree.runtime as runtime
        except ImportError as error:
            raise BuildError(str(error)) from error
        config = runtime.Config("local-sync")
        module = runtime.VmModule.mmap(config.vm_instance, str(path))
        context = runtime.VmContext(config.vm_instance, modules=[*config.default_vm_modules, module])
        function = module.lookup_function("main")
        device_arrays = [runtime.asdevicearray(config.device, a) for a in self.arrays]
        arguments = runtime.VmVariantList(len(device_arrays))
        for array in device_arrays:
            arguments.push_ref(array._buffer_view)
        count = len(self.results)

        def invoke():
            returned = runtime.VmVariantList(count)
            context.invoke(function, arguments, returned)
            return returned

        def to_arrays(returned):
            views = [returned.get_as_object(i, runtime.HalBufferView) for i in range(count)]
            return [np.array(runtime.DeviceArray(config.device, v, implicit_host_transfer=True)) for v in views]

        try:
            invoke()
        except Exception as error:
            raise BuildError(f"iree: {str(error).splitlines()[0][:160]}") from error
        return Column(invoke, to_arrays)
