"""Calls the C entries of shared objects that kb-compile made."""
import ctypes
import json
import os

from . import _cuda, _scalars, _tensors
from ._errors import LoadError


def load(path):
    """The Library in a shared object that kb-compile made. Its public functions are attributes: load("m.so").main(x).

    Raises LoadError if the file is none or needs instructions that this CPU lacks.
    """
    return Library(path)


class Library:
    """The public functions of one shared object, as attributes and, whatever their names are, by index."""

    def __init__(self, path):
        self.path = os.fspath(path)
        library = _open(os.path.abspath(self.path))
        try:
            text = ctypes.addressof(ctypes.c_char.in_dll(library, "kb_manifest"))
            self.manifest = json.loads(ctypes.string_at(text))
        except (ValueError, UnicodeDecodeError) as error:
            raise LoadError(f"{self.path} was not made by kb-compile (it has no kb_manifest)") from error
        if self.manifest.get("kind") != "program":
            raise LoadError(f"{self.path} holds one kernel, not the functions of a program")
        missing = _missing_features(self.manifest["target"]["features"])
        if missing:
            raise LoadError(f"{self.path} was built for {self.manifest['target']['chip']}; "
                            f"this CPU lacks {', '.join(missing)}")
        self._functions = {f["name"]: Function(library, f) for f in self.manifest["functions"]}

    def __getitem__(self, name):
        return self._functions[name]

    def __getattr__(self, name):
        try:
            return self.__dict__["_functions"][name]
        except KeyError:
            raise AttributeError(f"{self.__dict__.get('path', 'library')} has no function '{name}'") from None

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def __dir__(self):
        return [*super().__dir__(), *self._functions]

    def __repr__(self):
        return "<kernelbrain.Library {}: {}>".format(self.path, "; ".join(map(str, self._functions.values())))


def _open(path):
    """The loader searches its own folders for a name without a slash: `path` is absolute."""
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        if _cuda.SONAME not in str(error) or not _cuda.preload():
            raise LoadError(str(error)) from error
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise LoadError(str(error)) from error


class Function:
    """One function. Calling it takes a value for each argument and gives a value, a tuple of them, or None.

    Arguments: NumPy arrays, or tensors of the CPU that speak DLPack; for scalars also Python's numbers. Scalar results
    are Python's numbers. Element types must match. Extents must match where
    they are static, and each other where the function says that they are the same; the strides of a memref that has a
    layout must be those, and such an array is never copied. TypeError and ValueError otherwise;
    nothing has run then.

    Arguments and results that the module has on the device (placement=device) are DLPack tensors in a GPU's memory.
    Such a call puts work into a stream and returns: PyTorch's current one if a tensor is PyTorch's, else the default
    stream, or the one whose handle (an integer) is given as `stream`.
    """

    def __init__(self, library, signature):
        self.name = signature["name"]
        self._arguments = signature["arguments"]
        self._results = signature["results"]
        self._entry = getattr(library, "_mlir_ciface_" + self.name)
        fields = [(f"r{i}", _scalars.ctype(r["type"]) if r["is_scalar"] else _tensors.descriptor(len(r["shape"])))
                  for i, r in enumerate(self._results)]
        # A function whose C type cannot be written down is refused when it is called; its fields are never used.
        self._result_struct = None if any(t is None for _, t in fields) else type("Results", (ctypes.Structure,),
                                                                                  {"_fields_": fields})
        self._runtime = None
        if any(v.get("on_device") for v in self._arguments + self._results):
            self._runtime = _cuda.Runtime()
        self._by_value = len(fields) == 1 and self._results[0]["is_scalar"]
        self._entry.restype = fields[0][1] if self._by_value else None

    def __str__(self):
        def types(values):
            return ", ".join(_type_text(v) for v in values)
        return f"{self.name}({types(self._arguments)}) -> ({types(self._results)})"

    def __repr__(self):
        return f"<kernelbrain.Function {self}>"

    def __call__(self, *arguments, stream=None):
        if stream is None:
            stream = _cuda.current_stream(arguments)
        if len(arguments) != len(self._arguments):
            raise TypeError(f"{self.name} takes {len(self._arguments)} arguments ({len(arguments)} given)")
        extents, views, passed = {}, [], []
        for i, (value, expected) in enumerate(zip(arguments, self._arguments)):
            where = f"argument {i} of {self.name}"
            if expected["is_scalar"]:
                passed.append(_scalars.pack(value, expected["type"], where))
                continue
            view = _tensors.view(value, where, stream if expected.get("on_device") else None,
                                 expected.get("layout"))
            self._check(where, view, expected, extents)
            views.append(view)
            passed.append(ctypes.byref(view.descriptor))
        make = _tensors.Maker(arguments)
        for i, result in enumerate(self._results):
            (_scalars.check if result["is_scalar"] else make.check)(result["type"], f"result {i} of {self.name}")

        if self._by_value:
            return _scalars.unpack(self._run(passed, stream), self._results[0]["type"])
        results = self._result_struct()
        if self._results:
            passed.insert(0, ctypes.byref(results))
        self._run(passed, stream)
        owners = _tensors.Owners(views)
        values = []
        for i, result in enumerate(self._results):
            value, type_ = getattr(results, f"r{i}"), result["type"]
            if result["is_scalar"]:
                values.append(_scalars.unpack(value, type_))
                continue
            on_device = result.get("on_device", False)
            own = self._runtime.owner(stream) if on_device else _tensors.Allocation
            values.append(make(owners.take(value, type_, own, on_device)))
        return values[0] if len(values) == 1 else tuple(values) or None

    def _run(self, passed, stream):
        if self._runtime is None:
            return self._entry(*passed)
        before = self._runtime.enter(stream)
        try:
            return self._entry(*passed)
        finally:
            self._runtime.enter(before)

    @staticmethod
    def _check(where, view, expected, extents):
        if view.type != {"index": "i64"}.get(expected["type"], expected["type"]):
            raise TypeError(f"{where} must be of {expected['type']}, not {view.type}")
        if len(view.shape) != len(expected["shape"]):
            raise ValueError(f"{where} must be {_type_text(expected)}, not of shape {tuple(view.shape)}")
        for actual, extent in zip(view.shape, expected["shape"]):
            wanted = extents.setdefault(extent, actual) if extent < 0 else extent
            if actual != wanted:
                raise ValueError(f"{where} must be {_type_text(expected)}, not of shape {tuple(view.shape)}"
                                 + (f" (n{-extent - 1} is {wanted})" if extent < 0 else ""))


def _type_text(value):
    extents = [f"n{-n - 1}" if n < 0 else str(n) for n in value["shape"]]
    return "x".join([*extents, value["type"]])


def _missing_features(needed):
    """What vector code was compiled for and this CPU lacks; nothing if /proc/cpuinfo cannot be read."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), None)
    except OSError:
        flags = None
    # Only names that Linux and LLVM share.
    compared = {"avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"}
    return sorted((compared & set(needed)) - set(flags)) if flags else []
