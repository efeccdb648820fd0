"""The GPU through PyTorch: tensors, columns and clocks."""
import os

import torch

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
          "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "i1": torch.bool}
# Error that may remain by element type, relative to the largest magnitude of a result: a few roundings.
ROOM = {torch.bfloat16: 2e-2, torch.float16: 4e-3, torch.float32: 1e-4, torch.float64: 1e-10}
FLUSH_BYTES, FLUSHES = 256 << 20, 6  # 0.4 ms of work on an H200: longer than the host needs to make any call here


class TorchDevice:
    def __init__(self, seed):
        torch.set_grad_enabled(False)
        self.torch, self.seed = torch, seed
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self._flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def facts(self):
        properties = torch.cuda.get_device_properties(0)
        return {"gpu": properties.name, "multiprocessors": properties.multi_processor_count,
                "memory_bytes": properties.total_memory, "l2_bytes": properties.L2_cache_size,
                "capability": f"{properties.major}.{properties.minor}", "cuda": torch.version.cuda}

    # Tensors.

    def arguments(self, workload):
        """Random ones: normal floats, integers in the workload's range."""
        generator = torch.Generator(device="cuda").manual_seed(self.seed)
        made = []
        for position, tensor in enumerate(workload.inputs):
            dtype = DTYPES[tensor.dtype]
            if dtype.is_floating_point:
                value = torch.randn(tensor.shape, generator=generator, dtype=dtype, device="cuda")
                made.append(value.abs() + 0.5 if position in workload.form.positive else value)
            else:
                made.append(torch.randint(workload.form.high, tensor.shape, generator=generator, dtype=dtype,
                                          device="cuda"))
        return made

    def empty(self, tensor):
        return torch.empty(tensor.shape, dtype=DTYPES[tensor.dtype], device="cuda")

    def bytes(self, count):
        return torch.empty(max(count, 1), dtype=torch.uint8, device="cuda")

    def view(self, value, tensor):
        return value.view(tensor.shape)

    def pointer(self, value):
        return value.data_ptr()

    # Columns: functions without arguments that put work into the stream.

    def copy(self, count):
        """Moves `count` bytes, half of them read and half written."""
        source, target = self.bytes(count // 2), self.bytes(count // 2)
        return lambda: target.copy_(source)

    def eager(self, workload, arguments):
        return lambda: workload.form.call(torch, *arguments)

    def compiled(self, workload, arguments, mode):
        """Compiled and called once; RuntimeError says why not."""
        torch._dynamo.reset()
        form = workload.form.call
        compiled = torch.compile(lambda *inputs: form(torch, *inputs), mode=mode, dynamic=False)
        try:
            compiled(*arguments)
            torch.cuda.synchronize()
        except Exception as error:  # whatever the compiler ran into is the reason
            raise RuntimeError(f"{type(error).__name__}: {str(error).splitlines()[0][:160]}") from error
        return lambda: compiled(*arguments)

    def program(self, program):
        handle = self.stream.cuda_stream

        def call():
            program(handle)
            return program.results

        return call

    # Results.

    def reference(self, workload, arguments):
        """What the function gives when computed in f64; of indices the f64 values that they choose."""
        wide = [a.double() if a.is_floating_point() else a for a in arguments]
        results = self._list(workload.form.call(torch, *wide))
        return [wide[0].gather(-1, r.unsqueeze(-1)) for r in results] if workload.form.by_value else results

    def error(self, workload, arguments, reference, results):
        """(the largest error over the largest magnitude, the room for it)."""
        worst, room = 0.0, 0.0
        for expected, actual in zip(reference, self._list(results), strict=True):
            room = max(room, ROOM.get(actual.dtype, 0.0))
            if workload.form.by_value:
                actual = arguments[0].gather(-1, actual.unsqueeze(-1))
            if actual.shape != expected.shape:
                return float("inf"), room
            scale = max(expected.abs().max().item(), 1e-30)
            error = (actual.double() - expected).abs().max().item() / scale
            worst = max(worst, error if error == error else float("inf"))
        return worst, room

    @staticmethod
    def _list(value):
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def checksum(self, arguments):
        return [int(a.view(torch.uint8).sum(dtype=torch.int64)) for a in arguments]

    def release(self):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    # Clocks (rounds.py).

    def prepare(self):
        for _ in range(FLUSHES):
            self._flushed.zero_()

    def timed(self, call):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        late = start.query()
        end.record()
        return start, end, late

    def finish(self):
        torch.cuda.synchronize()

    def read(self, ticket):
        start, end, late = ticket
        return start.elapsed_time(end) / 1e3, late


def warm_up(workloads, seed, modes, lock):
    """Fills PyTorch's caches on disk with the compiled forms of `workloads`. Several processes may do so at a time:
    what they measure to choose between configurations, they measure one after another (`lock`: a context manager)."""
    from torch._inductor.runtime import triton_heuristics
    measure = triton_heuristics.CachingAutotuner.bench

    def alone(*arguments, **options):
        with lock:
            return measure(*arguments, **options)

    triton_heuristics.CachingAutotuner.bench = alone
    device = TorchDevice(seed)
    for workload in workloads:
        arguments = device.arguments(workload)
        for mode in modes:
            try:
                device.compiled(workload, arguments, mode)
            except RuntimeError:
                pass  # the benchmark itself will say so
        del arguments
        device.release()
        print(f"{os.getpid()} compiled {workload.name}", flush=True)
