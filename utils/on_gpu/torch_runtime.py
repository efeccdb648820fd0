#!/usr/bin/env python3
"""Runs the CUDA runtime inside PyTorch: on its default stream, on another one, in a graph capture, from threads, with
clusters and with much shared memory. Needs a device of capability 9.0 and PyTorch.

    torch_runtime.py LIBRARY    prints `ok` a line; exits 1 at the first thing that is wrong
"""
import ctypes
import statistics
import sys
import threading
import time

import torch

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
// out[i] = in[i] + 1, by way of dynamic shared memory
.visible .entry add_one(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 at)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<3>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; ld.param.u32 %r0, [n]; ld.param.u32 %r6, [at];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra done;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;
  ld.global.f32 %f0, [%d3];
  mov.u32 %r5, dynamic; add.u32 %r5, %r5, %r6;
  shl.b32 %r7, %r3, 2; add.u32 %r5, %r5, %r7;
  st.shared.f32 [%r5], %f0; ld.shared.f32 %f1, [%r5];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%d4], %f2;
done:
  ret;
}
\0"""


class Module(ctypes.Structure):
    _fields_ = [("image", ctypes.c_char_p), ("handle", ctypes.c_void_p)]


class Kernel(ctypes.Structure):
    _fields_ = [("module", ctypes.POINTER(Module)), ("name", ctypes.c_char_p), ("handle", ctypes.c_void_p),
                ("shared_bytes", ctypes.c_int32)]


class Shape(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3),
                ("shared_bytes", ctypes.c_uint32)]


runtime = ctypes.CDLL(sys.argv[1])
runtime.kbcuMessage.restype = ctypes.c_char_p
module = Module(PTX, None)


def kernel(shared=1024, name=b"add_one"):
    return Kernel(ctypes.pointer(module), name, None, shared)


def launch(k, x, y, stream=None, shared=1024, cluster=(0, 0, 0), at=0):
    values = [ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_uint32(x.numel()),
              ctypes.c_uint32(at)]
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in values))
    shape = Shape((-(-x.numel() // 256), 1, 1), (256, 1, 1), cluster, shared)
    return runtime.kbcuLaunch(ctypes.byref(k), ctypes.byref(shape), ctypes.c_void_p(stream), pointers)


def expect(what, condition):
    print(("ok " if condition else "WRONG ") + what, flush=True)
    if not condition:
        sys.exit(1)


def main():
    x, y = torch.randn(1 << 20, device="cuda"), torch.empty(1 << 20, device="cuda")
    plain = kernel()
    expect("default stream", launch(plain, x, y) == 0 and torch.equal(y, x + 1))

    stream = torch.cuda.Stream()
    y.zero_()
    x.mul_(1)  # a first use loads code, and waits for all streams
    torch.cuda._sleep(1)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)  # what comes behind it must wait
        x.mul_(2)
        status = launch(plain, x, y, stream.cuda_stream)
    busy = not stream.query()
    stream.synchronize()
    expect("another stream, in order and without waiting", status == 0 and busy and torch.equal(y, x + 1))

    graph = torch.cuda.CUDAGraph()
    fresh = kernel()
    with torch.cuda.graph(graph):
        status = launch(fresh, x, y, torch.cuda.current_stream().cuda_stream)
    x.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    expect("graph capture", status == 0 and bool((y == 4).all()))

    shared, wrong = kernel(), []

    def work(i):
        mine, own = torch.full((100_003,), float(i), device="cuda"), torch.cuda.Stream()
        result = torch.empty_like(mine)
        torch.cuda.synchronize()
        runtime.kbcuSetStream(ctypes.c_void_p(own.cuda_stream))
        for _ in range(100):
            if launch(shared, mine, result):
                wrong.append(i)
        own.synchronize()
        if not bool((result == i + 1).all()):
            wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("threads with streams of their own", not wrong)

    y.zero_()
    status = launch(kernel(200 * 1024), x, y, shared=200 * 1024, at=199 * 1024 - 1024)
    torch.cuda.synchronize()
    expect("200 KiB of shared memory", status == 0 and bool((y == 4).all()))
    y.zero_()
    status = launch(plain, x, y, cluster=(2, 1, 1))
    torch.cuda.synchronize()
    expect("clusters", status == 0 and bool((y == 4).all()))

    expect("too much shared memory is refused", launch(kernel(1 << 20), x, y, shared=1 << 20) > 1000)
    expect("a missing kernel is refused", launch(kernel(name=b"none"), x, y) == 1500)
    broken = Module(b"not an image", None)
    status = launch(Kernel(ctypes.pointer(broken), b"add_one", None, 0), x, y)
    expect(f"a broken image is refused: {runtime.kbcuMessage(status).decode()}", status > 1000)
    expect("the device is well after that", launch(plain, x, y) == 0 and runtime.kbcuSynchronize(None) == 0)

    result = []

    def no_context():
        result.append(runtime.kbcuSynchronize(None))

    thread = threading.Thread(target=no_context)
    thread.start()
    thread.join()
    expect("a thread without a context", result == [0])

    small, out = torch.zeros(256, device="cuda"), torch.empty(256, device="cuda")
    values = [ctypes.c_void_p(small.data_ptr()), ctypes.c_void_p(out.data_ptr()), ctypes.c_uint32(256),
              ctypes.c_uint32(0)]
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in values))
    shape = Shape((1, 1, 1), (256, 1, 1), (0, 0, 0), 1024)
    arguments = ctypes.byref(plain), ctypes.byref(shape), None, pointers
    samples = []
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(10):
            runtime.kbcuLaunch(*arguments)
        samples.append((time.perf_counter() - start) / 10)
        torch.cuda.synchronize()
    print(f"a launch takes {statistics.median(samples) * 1e6:.1f} us of the host, the call by ctypes included")


if __name__ == "__main__":
    main()
