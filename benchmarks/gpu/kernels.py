"""Calls built kernels (ABI version 1, docs/Protocols.md) on PyTorch tensors in device memory."""
import ctypes
import json
import pathlib

from plans import Plan
from workloads import WorkloadError


def load_runtime(bundle):
    """Loads the library that kernels call, so that they find it wherever they lie."""
    path = pathlib.Path(bundle) / "lib" / "libKernelBrainCudaRuntime.so"
    try:
        return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise WorkloadError(str(error)) from error


class Kernel:
    """One artifact."""

    def __init__(self, path):
        try:
            self._library = ctypes.CDLL(str(path))
            text = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(self._library, "kb_manifest")))
            self.manifest = json.loads(text)
            self._entry = getattr(self._library, self.manifest["entry"])
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise WorkloadError(f"{path}: {error}") from error
        if self.manifest.get("target", {}).get("kind") != "cuda" or not self.manifest.get("launches"):
            raise WorkloadError(f"{path} launches nothing on a GPU: it would touch device memory from the host")
        if self.manifest["dims"]:
            raise WorkloadError(f"{path} has dynamic dimensions")
        self._entry.restype = ctypes.c_int32
        self.name = pathlib.Path(path).stem

    def workspace_bytes(self):
        return self.manifest.get("workspace_bytes", 0)

    def check_signature(self, tensors):
        """WorkloadError unless the kernel takes these, inputs before outputs."""
        taken = [(tuple(a["shape"]), a["type"]) for a in self.manifest["arguments"]]
        given = [(t.shape, t.dtype) for t in tensors]
        if taken != given:
            raise WorkloadError(f"kernel '{self.name}' takes {taken}, not {given}")

    def bind(self, pointers, workspace):
        """A function of the stream that puts one call into it."""
        words = [ctypes.c_void_p(p) for p in (*pointers, workspace)]
        entry = self._entry

        def call(stream):
            if status := entry(*words, ctypes.c_void_p(stream)):
                raise WorkloadError(f"kernel '{self.name}' returned status {status}")

        return call


class Program:
    """All kernels of a file, one after another, on fixed buffers. `device` makes tensors (`empty`, `bytes`, `view`,
    `pointer`); results are in `results` after a call."""

    def __init__(self, folder, workload, arguments, device):
        folder = pathlib.Path(folder)
        try:
            plan = Plan.from_json(json.loads((folder / "plan.json").read_text()))
        except (OSError, ValueError, KeyError) as error:
            raise WorkloadError(f"{folder}: {error}") from error
        kernels = {name: Kernel(folder / f"{name}.so") for name in plan.kernels()}
        self.notes = [f"{name} is the stock lowering" for name, k in kernels.items()
                      if k.manifest.get("recipe", {}).get("strategy") == "stock"]
        values = {f"arg{i}": (t, a) for i, (t, a) in enumerate(zip(workload.inputs, arguments))}
        self._calls, self._kept = [], []
        for step in plan.steps:
            ins = [self._value(values, name) for name in step.inputs]
            if not step.kernel:
                (name, tensor), = step.outputs
                values[name] = tensor, device.view(ins[0][1], tensor)
                continue
            outs = [(tensor, device.empty(tensor)) for _, tensor in step.outputs]
            values.update(zip((name for name, _ in step.outputs), outs))
            kernel = kernels[step.kernel]
            kernel.check_signature([t for t, _ in ins + outs])
            workspace = device.bytes(kernel.workspace_bytes())
            self._kept.append((ins, outs, workspace))
            self._calls.append(kernel.bind([device.pointer(a) for _, a in ins + outs], device.pointer(workspace)))
        self.results = [self._value(values, name)[1] for name in plan.results]

    @staticmethod
    def _value(values, name):
        if name not in values:
            raise WorkloadError(f"the plan uses '{name}' before it is made")
        return values[name]

    def __call__(self, stream):
        for call in self._calls:
            call(stream)
