#!/usr/bin/env python3
"""Calls a built softmax of 65536x256 bf16, buffers on the device, inside PyTorch: on its default stream, on another one,
in a graph capture, from two threads. Prints `ok` a line and what a call costs the host; exits 1 at the first that is wrong.

    torch_program.py PROGRAM.so         with KB_COMPILE naming the kb-compile beside the runtime library
"""
import pathlib
import statistics
import sys
import threading
import time

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/src"))
import kernelbrain  # noqa: E402

SLEEP = 50_000_000  # cycles: some 25 ms, longer than the host needs for any call


def expect(what, condition):
    print(("ok " if condition else "WRONG ") + what, flush=True)
    if not condition:
        sys.exit(1)


def main():
    softmax = kernelbrain.load(sys.argv[1]).main
    x = torch.randn(65536, 256, device="cuda", dtype=torch.bfloat16)
    wanted = torch.softmax(x.double(), -1)

    def call(argument):
        results = softmax(argument)
        return results[0] if isinstance(results, tuple) else results

    def right(y, of=wanted):
        return bool((y.double() - of).abs().max() < 5e-3)

    expect("default stream", right(call(x)))

    stream = torch.cuda.Stream()
    doubled, late = x * 2, torch.zeros_like(x)
    torch.cuda._sleep(1)  # a first use loads code, and waits
    late.copy_(doubled).zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(SLEEP)
        late.copy_(doubled)  # what the call must wait for
        y = call(late)
        busy = not stream.query()
    stream.synchronize()
    expect("another stream, in order and without waiting", busy and right(y, torch.softmax(doubled.double(), -1)))

    graph, static = torch.cuda.CUDAGraph(), x.clone()
    with torch.cuda.graph(graph):
        captured = call(static)
    graph.replay()
    torch.cuda.synchronize()
    first = right(captured)
    static.copy_(x.flip(0))
    graph.replay()
    torch.cuda.synchronize()
    expect("graph capture, replayed on other data", first and right(captured.flip(0)))

    found = [None, None]

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()) as _:
            mine = x.flip(0) if i else x
            for _ in range(50):
                found[i] = call(mine)
            torch.cuda.current_stream().synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    torch.cuda.synchronize()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("two threads with streams of their own", right(found[0]) and right(found[1].flip(0)))

    samples = []
    for _ in range(20):
        torch.cuda._sleep(SLEEP // 10)
        start = time.perf_counter()
        for _ in range(20):
            call(x)
        samples.append((time.perf_counter() - start) / 20)
        torch.cuda.synchronize()
    print(f"a call takes {statistics.median(samples) * 1e6:.1f} us of the host while the GPU is busy")


if __name__ == "__main__":
    main()
