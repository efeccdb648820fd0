"""The PyTorch functions that examples/torch/*.mlir were exported from, with their inputs.

`make(name, seed)` gives a module in evaluation mode and the inputs of its forward. The exported `main` takes those
inputs, then the parameters, then the floating-point buffers, in the order of declaration: `arguments` lists them.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.widen, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.narrow(F.gelu(self.widen(x)))


class GatedFeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.widen = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.narrow = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.narrow(F.silu(self.gate(x)) * self.widen(x))


def attend(q, k, v, mask=None):
    """Attention with an additive mask, in the steps that were exported."""
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + mask
    return torch.matmul(torch.softmax(scores, -1), v)


def attend_causally(q, k, v):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    rows, columns = scores.shape[-2:]
    future = torch.arange(columns) > torch.arange(rows)[:, None]
    return torch.matmul(torch.softmax(scores.masked_fill(future, -math.inf), -1), v)


class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = FeedForward(width, 4 * width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        heads = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = attend(heads[0], heads[1], heads[2], mask).transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + self.output(mixed))
        return self.norm2(x + self.feed(x))


def rotate(x, cos, sin):
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat((-high, low), -1) * sin


class DecoderBlock(nn.Module):
    def __init__(self, width, heads, groups, hidden):
        super().__init__()
        self.heads, self.groups, self.depth = heads, groups, width // heads
        self.query, self.output = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.depth, bias=False)
        self.value = nn.Linear(width, groups * self.depth, bias=False)
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.feed = GatedFeedForward(width, hidden)

    def split(self, x, heads):
        return x.view(x.size(0), x.size(1), heads, self.depth).transpose(1, 2)

    def forward(self, x, cos, sin):
        y = self.norm1(x)
        q = rotate(self.split(self.query(y), self.heads), cos, sin)
        k = rotate(self.split(self.key(y), self.groups), cos, sin)
        v = self.split(self.value(y), self.groups)
        share = self.heads // self.groups
        mixed = attend_causally(q, k.repeat_interleave(share, 1), v.repeat_interleave(share, 1))
        x = x + self.output(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.feed(self.norm2(x))


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(y)))


class InvertedResidual(nn.Module):
    def __init__(self, channels, factor, stride):
        super().__init__()
        hidden = channels * factor
        self.add = stride == 1
        self.steps = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.steps(x)
        return x + y if self.add else y


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.full1, self.full2, self.full3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.avg_pool2d(torch.tanh(self.conv2(x)), 2).flatten(1)
        x = torch.tanh(self.full2(torch.tanh(self.full1(x))))
        return torch.log_softmax(self.full3(x), -1)


class GRUStep(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.of_input, self.of_state = nn.Linear(width, 3 * hidden), nn.Linear(hidden, 3 * hidden)

    def forward(self, x, state):
        reset_x, update_x, new_x = self.of_input(x).chunk(3, -1)
        reset_h, update_h, new_h = self.of_state(state).chunk(3, -1)
        reset, update = torch.sigmoid(reset_x + reset_h), torch.sigmoid(update_x + update_h)
        new = torch.tanh(new_x + reset * new_h)
        return (1 - update) * new + update * state


class EmbedNorm(nn.Module):
    def __init__(self, words, positions, width):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        return self.norm(self.words(ids) + self.positions.weight[None, :ids.size(1)])


def rmsnorm_residual(x, residual, weight):
    h = x + residual
    return h, h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def jacobi(u, f):
    for _ in range(10):
        p = F.pad(u, (1, 1, 1, 1))
        u = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)
    return u


def int8_linear(x, w, scale):
    return torch.matmul(x.to(torch.int32), w.to(torch.int32)).to(scale.dtype) * scale


def normal(*shape):
    return lambda: torch.randn(*shape)


def index(bound, *shape):
    return lambda: torch.randint(0, bound, shape)


def signed_bytes(*shape):
    return lambda: torch.randint(-127, 127, shape, dtype=torch.int8)


def function(f):
    return lambda: Function(f)


# name: (what makes the module, what makes each input). cumsum, dynamic_mlp and tosa_conv_block have no torch form.
WORKLOADS = {
    "softmax": (function(lambda x: torch.softmax(x, -1)), [normal(4096, 1024)]),
    "log_softmax_odd": (function(lambda x: torch.log_softmax(x, -1)), [normal(1021, 997)]),
    "layernorm": (lambda: nn.LayerNorm(1024), [normal(4096, 1024)]),
    "rmsnorm_residual": (function(rmsnorm_residual), [normal(2048, 2048), normal(2048, 2048), normal(2048)]),
    "embed_norm": (lambda: EmbedNorm(8192, 128, 256), [index(8192, 16, 128)]),
    "cross_entropy": (function(F.cross_entropy), [normal(512, 8192), index(8192, 512)]),
    "argmax_rows": (function(lambda x: x.argmax(-1)), [normal(2048, 2048)]),
    "gelu_bias": (function(lambda x, b: F.gelu(x + b)), [normal(2048, 2048), normal(2048)]),
    "transpose": (function(lambda x: x.t().contiguous() * 1.0), [normal(2048, 2048)]),
    "column_stats": (function(lambda x: (x.mean(0), x.var(0), x.amax(0))), [normal(4096, 1024)]),
    "matmul_1024": (function(torch.matmul), [normal(1024, 1024), normal(1024, 1024)]),
    "matmul_skinny": (function(torch.matmul), [normal(16, 2048), normal(2048, 2048)]),
    "batched_matmul_nt": (function(lambda a, b: torch.matmul(a, b.transpose(-1, -2))),
                          [normal(16, 128, 64), normal(16, 128, 64)]),
    "int8_linear": (function(int8_linear),
                    [signed_bytes(128, 512), signed_bytes(512, 512), normal(512)]),
    "pairwise_distance": (function(lambda a, b: (a[:, None] - b[None]).pow(2).sum(-1).argmin(-1)),
                          [normal(512, 64), normal(256, 64)]),
    "mlp": (lambda: FeedForward(512, 2048), [normal(128, 512)]),
    "swiglu": (lambda: GatedFeedForward(512, 1376), [normal(128, 512)]),
    # Exported with one tensor for all three arguments: the file reads only the last.
    "attention_causal": (function(lambda q, k, v: attend_causally(v, v, v)), [normal(2, 4, 256, 64)] * 3),
    "encoder_block": (lambda: EncoderBlock(256, 4), [normal(2, 128, 256), normal(2, 1, 1, 128)]),
    "decoder_block": (lambda: DecoderBlock(256, 8, 2, 688),
                      [normal(1, 128, 256), normal(128, 32), normal(128, 32)]),
    "gru_step": (lambda: GRUStep(256, 512), [normal(64, 256), normal(64, 512)]),
    "groupnorm_silu": (lambda: nn.Sequential(nn.GroupNorm(32, 128), nn.SiLU()),
                       [normal(4, 128, 32, 32)]),
    "residual_block": (lambda: ResidualBlock(64), [normal(1, 64, 28, 28)]),
    "inverted_residual": (lambda: InvertedResidual(32, 6, 1), [normal(1, 32, 28, 28)]),
    "inverted_residual_stride2": (lambda: InvertedResidual(24, 6, 2), [normal(2, 24, 57, 57)]),
    "lenet": (LeNet, [normal(32, 1, 28, 28)]),
    "maxpool_avgpool": (function(lambda x: (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 1, 1))),
                        [normal(2, 32, 56, 56)]),
    "jacobi": (function(jacobi), [normal(512, 512), normal(512, 512)]),
}


def randomise(module):
    """Replaces weights that are constant as made (norms' ones and zeros), which would hide a mistake."""
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        if not tensor.is_floating_point() or tensor.dim() != 1:
            continue
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
        else:
            tensor.copy_(torch.randn_like(tensor) * 0.1 + (1 if name.endswith("weight") else 0))


def make(name, seed):
    """(module, inputs), or None if there is no such workload."""
    if name not in WORKLOADS:
        return None
    make_module, make_inputs = WORKLOADS[name]
    torch.manual_seed(seed)
    with torch.no_grad():
        module = make_module().eval()
        randomise(module)
        return module, [make_input() for make_input in make_inputs]


def tensors(module):
    """The parameters and floating-point buffers, in the order of the exported function's arguments."""
    return [t for _, t in (*module.named_parameters(), *module.named_buffers()) if t.is_floating_point()]
