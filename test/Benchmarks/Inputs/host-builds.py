"""host-builds.py SOURCE FILE.mlir BUILD FOLDER: searches and compiles a file as benchmarks/host does."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "benchmarks" / "host"))
import builds  # noqa: E402

builder = builds.Builder(sys.argv[4], sys.argv[3], budget_seconds=10, seed=1, reuse=False)
path, search = builder.kb(pathlib.Path(sys.argv[2]), "kb", **{"max-variants": 1})
print(f"{search['variants']} variant, {path}" if path.exists() else search)
