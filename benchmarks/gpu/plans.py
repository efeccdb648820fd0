"""Which kernels a file is made of, and what each is called with: read from what kb-outline prints."""
import re
from dataclasses import asdict, dataclass

from workloads import Tensor, WorkloadError, parse_types


@dataclass
class Step:
    """A call of `kernel` on named values, or with `kernel` empty a view of the value `inputs[0]` in another shape.
    `outputs` are the names and tensors that it makes."""
    kernel: str
    inputs: list
    outputs: list


@dataclass
class Plan:
    """Arguments are `arg0`, `arg1`, ...; `results` names the values that @main returns."""
    steps: list
    results: list

    def kernels(self):
        return sorted({step.kernel for step in self.steps if step.kernel})

    def to_json(self):
        return asdict(self)

    @staticmethod
    def from_json(json):
        return Plan([Step(s["kernel"], s["inputs"], [(n, Tensor(tuple(t["shape"]), t["dtype"])) for n, t in s["outputs"]])
                     for s in json["steps"]], json["results"])


def _values(text):
    """The SSA names in an operand list, without the sign."""
    return re.findall(r"%([\w$.-]+(?:#\d+)?)", text)


def parse(module):
    """The plan of @main in an outlined module. WorkloadError where it holds anything but calls of kernels, views of
    their results and empty tensors: then there is more to run than kernels."""
    match = re.search(r"func\.func\s+(?:public\s+)?@main\([^\n]*\{\n(.*?)\n\s*\}\n", module, re.S)
    if not match:
        raise WorkloadError("the outlined module has no function '@main'")
    steps = []
    for line in filter(None, map(str.strip, match.group(1).split("\n"))):
        if line.startswith("return"):
            return Plan(steps, _values(line.split(":")[0]))
        defined = re.match(r"%([\w$.-]+)(?::(\d+))? = ([\w.]+)", line)
        operation = defined.group(3) if defined else re.match(r"\S+", line).group()
        if operation == "tensor.empty":
            continue
        if operation == "kb.call":
            call = re.search(r"@kb\.kernels::@([\w$.-]+) ins\((.*?) : .*?\) outs\((.*?) : (.*?)\)", line)
            name, count = defined.group(1), int(defined.group(2) or 1)
            names = [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
            steps.append(Step(call.group(1), _values(call.group(2)), list(zip(names, parse_types(call.group(4))))))
        elif operation in ("tensor.expand_shape", "tensor.collapse_shape"):
            into = parse_types(line.split(" into ")[-1])[0]
            steps.append(Step("", _values(line.split(" = ")[1])[:1], [(defined.group(1), into)]))
        else:
            raise WorkloadError(f"'{operation}' stays outside of kernels")
    raise WorkloadError("@main does not return")
