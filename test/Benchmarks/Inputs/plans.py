"""Outlines every file of examples/device and checks that its plan makes what the file returns from what it takes."""
import pathlib
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "benchmarks" / "gpu"))
import plans  # noqa: E402
import workloads  # noqa: E402

for file in sorted((source / "examples" / "device").glob("*.mlir")):
    if file.stem not in workloads.FORMS:
        continue
    outlined = subprocess.run(["kb-opt", file, "--kb-normalize", "--kb-outline"], check=True, capture_output=True).stdout
    workload, plan = workloads.load(file), plans.parse(outlined.decode())
    values = {f"arg{i}": tensor for i, tensor in enumerate(workload.inputs)}
    for step in plan.steps:
        assert all(name in values for name in step.inputs), step
        values.update(step.outputs)
    assert [values[name] for name in plan.results] == workload.results, plan
    print("planned", workload.name)
