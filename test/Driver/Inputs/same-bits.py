"""same-bits.py PRINTING.so A.so B.so: calls @softmax of two programs; their results have to be equal bit by bit, in every one of many calls."""
import ctypes
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils"))
import ciface  # noqa: E402

rng = np.random.default_rng(1)
shape = (37, 256)
values = rng.standard_normal(shape).astype(np.float32)
values[5, 7] = np.nan
expected = None
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)  # what the programs print with
for path in sys.argv[2:]:
    entry = ciface.Entry(path, [values], [(shape, np.float32)], "softmax")
    for _ in range(50):
        entry()
        found = entry.take()[0].tobytes()
        expected = expected or found
        if found != expected:
            sys.exit(f"{path} differs")
assert not np.isnan(np.frombuffer(expected, np.float32)).all()
print("the same bits in every call")
