"""Builds kernels by recipe and calls them."""

import ctypes
import os
import re
import tempfile

import numpy as np

from client import Server

TYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64}


def describe(text, dims, name="k"):
    """The description of `kb.kernel @name`; `dims` numbers its dynamic dimensions from 1, in order of appearance."""
    arguments, numbers = [], iter(dims)
    head = re.search(r"kb\.kernel @%s ins\((.*?)\)\s+outs\((.*?)\)" % name, text, re.S)
    for is_output, part in enumerate(head.groups()):
        for spec in re.findall(r"tensor<(.*?)>", part):
            *extents, element = spec.split("x")
            arguments.append({"is_output": bool(is_output), "type": element,
                              "shape": [int(e) if e != "?" else -next(numbers) for e in extents]})
    return {"name": name, "kind": "sequence", "arguments": arguments, "dim_hints": [8] * len(set(dims))}


def load_emulator(libraries):
    """Lets this process run kernels for the emulated GPU, on its own memory."""
    os.environ["KB_CUDA_DRIVER"] = os.path.join(libraries, "emulator", "libcuda.so.1")
    return ctypes.CDLL(os.path.join(libraries, "libKernelBrainCudaRuntime.so"), ctypes.RTLD_GLOBAL)


class Kernel:
    """One kernel in a server of its own, for this CPU or with the given options."""

    def __init__(self, text, folder, dims=(), options=()):
        self.description = describe(text, dims)
        self.folder = folder
        self.server = Server("kb-compile", "--serve", *options)
        self.server.hello()
        reply, _ = self.server.request({"type": "kernel", "kernel": self.description}, text.encode())
        assert reply["type"] == "kernel", reply

    def build(self, recipe):
        return self.server.build(recipe, kernel="k")

    def run(self, recipe, inputs):
        """The results, and the manifest. Inputs of the strategy `reference` are converted."""
        reply, data = self.build(recipe)
        assert reply["disposition"] == "passed", reply
        manifest = reply["manifest"]
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".so", delete=False) as file:
            file.write(data)
        dims = {extent: a.shape[axis] for a, d in zip(inputs, self.description["arguments"])
                for axis, extent in enumerate(d["shape"]) if extent < 0}
        arrays = [np.ascontiguousarray(a, TYPES[d["type"]]) for a, d in zip(inputs, manifest["arguments"])]
        results = [np.full([dims.get(e, e) for e in d["shape"]], np.nan, TYPES[d["type"]])
                   for d in manifest["arguments"] if d["is_output"]]
        workspace = np.full(manifest["workspace_bytes"] + 64, 0xFF, np.uint8)
        start = -workspace.ctypes.data % 64
        words = [a.ctypes.data for a in arrays + results] + [dims[-k - 1] for k in range(len(dims))]
        words += [workspace.ctypes.data + start, 0]
        status = ctypes.CDLL(file.name).kb_invoke((ctypes.c_void_p * len(words))(*words))
        assert status == 0, status
        return results, manifest

    def compare(self, recipe, inputs, tolerance=1e-5):
        """Runs a recipe beside the reference in f64. Returns the manifest."""
        results, manifest = self.run(recipe, inputs)
        expected, _ = self.run({"strategy": "reference"}, inputs)
        for ours, wanted in zip(results, expected):
            error = np.abs(ours - wanted).max() / max(np.abs(wanted).max(), 1e-30) if wanted.size else 0
            assert error < tolerance, error
        return manifest
