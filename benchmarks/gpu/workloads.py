"""The files of examples/device: what they take and return, and the PyTorch functions that they were exported from.

A file's tensors come from its own text, so that file and table cannot drift apart unnoticed. `FORMS` is keyed by file
name; torch itself is imported by whoever calls the functions."""
import math
import re
from dataclasses import dataclass

BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}


class WorkloadError(Exception):
    """A file that this benchmark cannot run; one line."""


@dataclass(frozen=True)
class Tensor:
    shape: tuple
    dtype: str  # MLIR's name of the element type

    def bytes(self):
        return math.prod(self.shape) * BYTES[self.dtype]


def parse_types(text):
    """The tensors in `text`, in order. WorkloadError for what has no static shape or no known element type."""
    found = []
    for inner in re.findall(r"tensor<([^<>]*)>", text):
        *dims, dtype = inner.split(",")[0].strip().split("x")
        if dtype not in BYTES or not all(d.isdigit() for d in dims):
            raise WorkloadError(f"tensor<{inner}> is not of a static shape and a known element type")
        found.append(Tensor(tuple(map(int, dims)), dtype))
    return found


def parse_signature(source):
    """(inputs, results) of @main."""
    match = re.search(r"func\.func\s+(?:public\s+)?@main\s*\((.*?)\)\s*->\s*(.*?)\s*(?:attributes\s.*)?\{\s*$", source,
                      re.M)
    if not match:
        raise WorkloadError("no function '@main' with results")
    return parse_types(match.group(1)), parse_types(match.group(2))


@dataclass(frozen=True)
class Form:
    """`call(torch, *inputs)` is what a PyTorch user writes. `high` is the end of the range of integer inputs,
    `positive` are the positions of inputs that are never negative (variances). Of `by_value` results, which are indices
    of largest elements along the last axis, any index of an equal element is right. `reads` counts the bytes of inputs
    that have to be read, where that is not each of them once."""
    call: object
    high: int = 0
    positive: tuple = ()
    by_value: bool = False
    reads: object = None


def softmax(torch, x):
    return torch.softmax(x, -1)


def rms_norm(torch, x, weight):
    h = x.float() if x.dtype == torch.bfloat16 else x
    return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def add_rms_norm(torch, x, residual, weight):
    h = x + residual
    return h, rms_norm(torch, h, weight)


def cross_entropy(torch, x, target):
    return torch.nn.functional.cross_entropy(x if x.dtype == torch.float64 else x.float(), target)


def rope(torch, x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def group_norm_silu(torch, x, weight, bias):
    functional = torch.nn.functional
    return functional.silu(functional.group_norm(x, 32, weight, bias))


def batch_norm_relu(torch, x, weight, bias, mean, variance):
    functional = torch.nn.functional
    return functional.relu(functional.batch_norm(x, mean, variance, weight, bias))


def gathered(inputs, results):
    """Each looked-up row is read once: a table beyond the cache gives no reuse to count on."""
    return inputs[1].bytes() + results[0].bytes()


FORMS = {
    "softmax_bf16": Form(softmax),
    "softmax_f32_4096": Form(softmax),
    "softmax_bf16_short_rows": Form(softmax),
    "softmax_bf16_long_rows": Form(softmax),
    "log_softmax_bf16": Form(lambda torch, x: torch.log_softmax(x, -1)),
    "layernorm_bf16": Form(lambda torch, x, w, b: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)),
    "rmsnorm_bf16": Form(rms_norm),
    "add_rmsnorm_bf16": Form(add_rms_norm),
    "gelu_bf16": Form(lambda torch, x: torch.nn.functional.gelu(x)),
    "swiglu_pointwise_bf16": Form(lambda torch, a, b: torch.nn.functional.silu(a) * b),
    "rowsum_f32": Form(lambda torch, x: x.sum(-1)),
    "colsum_f32": Form(lambda torch, x: x.sum(0)),
    "fullsum_f32": Form(lambda torch, x: x.sum()),
    "argmax_bf16": Form(lambda torch, x: x.argmax(-1), by_value=True),
    "cumsum_f32": Form(lambda torch, x: x.cumsum(-1)),
    "cross_entropy_bf16": Form(cross_entropy, high=32000),
    "embedding_bf16": Form(lambda torch, w, i: torch.nn.functional.embedding(i, w), high=32000, reads=gathered),
    "transpose_bf16": Form(lambda torch, x: x.t().contiguous()),
    "permute_0213_bf16": Form(lambda torch, x: x.permute(0, 2, 1, 3).contiguous()),
    "rope_bf16": Form(rope),
    "groupnorm_silu_bf16": Form(group_norm_silu),
    "batchnorm_relu_f32": Form(batch_norm_relu, positive=(4,)),
    "maxpool_k2_f32": Form(lambda torch, x: torch.nn.functional.max_pool2d(x, 2)),
    "avgpool_k3_f32": Form(lambda torch, x: torch.nn.functional.avg_pool2d(x, 3, 1, 1)),
}


@dataclass(frozen=True)
class Workload:
    name: str
    inputs: list
    results: list
    form: Form

    def least_bytes(self):
        """That any implementation moves to and from memory."""
        reads = self.form.reads(self.inputs, self.results) if self.form.reads else sum(t.bytes() for t in self.inputs)
        return reads + sum(t.bytes() for t in self.results)


def load(path):
    """The workload of a file. WorkloadError: it has no form, or one that this benchmark cannot run."""
    if path.stem not in FORMS:
        raise WorkloadError(f"no PyTorch form of '{path.stem}'")
    return Workload(path.stem, *parse_signature(path.read_text()), FORMS[path.stem])
