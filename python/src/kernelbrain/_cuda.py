"""The CUDA runtime of programs whose buffers are in a GPU's memory (KernelBrain/Runtime/CudaRuntime.h)."""
import ctypes
import os
import shutil
import sys

SONAME = "libKernelBrainCudaRuntime.so"


def preload():
    """Loads the runtime if a program could not find it by itself; False if it is nowhere.

    Looked for: KB_CUDA_RUNTIME, then the folder lib beside that of kb-compile.
    """
    compiler = os.environ.get("KB_COMPILE") or shutil.which("kb-compile")
    candidates = [os.environ.get("KB_CUDA_RUNTIME")]
    if compiler:
        folder = os.path.dirname(os.path.dirname(os.path.realpath(compiler)))
        candidates.append(os.path.join(folder, "lib", SONAME))
    for path in filter(None, candidates):
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            return True
        except OSError:
            continue
    return False


class Runtime:
    """The runtime that a loaded program calls."""

    def __init__(self):
        self._library = ctypes.CDLL(SONAME)  # loaded already
        self._library.kbcuSetStream.argtypes = [ctypes.c_void_p]
        self._library.kbcuSetStream.restype = None
        self._library.kbcuGetStream.restype = ctypes.c_void_p
        self._library.kbcuFree.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def enter(self, stream):
        """Makes `stream` that of this thread's calls; returns the one before."""
        before = self._library.kbcuGetStream()
        self._library.kbcuSetStream(stream)
        return before

    def owner(self, stream):
        """Makes owners of memory that is freed in the order of `stream`."""
        return lambda address: _Allocation(self._library, address, stream)


class _Allocation:
    """Memory of kbcuAllocate, freed with the last tensor that shows it."""

    def __init__(self, library, address, stream):
        self._library, self.address, self._stream = library, address, stream

    def __del__(self):
        self._library.kbcuFree(self.address, self._stream)


def current_stream(arguments):
    """The stream that PyTorch puts work into now, if one of the arguments is its tensor on a GPU; else the default one."""
    for argument in arguments:
        if type(argument).__module__.partition(".")[0] == "torch" and getattr(argument, "is_cuda", False):
            return sys.modules["torch"].cuda.current_stream(argument.device).cuda_stream
    return 0
