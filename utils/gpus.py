"""GPUs of this machine, and jobs side by side on them."""
import ctypes
import os
import queue
import threading
import time


def visible():
    """What CUDA_VISIBLE_DEVICES may be set to to choose one GPU: the names of all that this process may use. The driver
    is the file that KB_CUDA_DRIVER names, else libcuda.so.1; without one there is none."""
    if (given := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [name.strip() for name in given.split(",") if name.strip()]
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL(os.environ.get("KB_CUDA_DRIVER") or "libcuda.so.1")
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
            return []
    except OSError:
        return []
    return [str(i) for i in range(count.value)]


def on(gpu):
    """The environment of a process that sees this GPU only."""
    return os.environ | {"CUDA_VISIBLE_DEVICES": gpu}


def side_by_side(jobs, gpus, per_gpu, done):
    """Calls `jobs`, functions of a GPU's name, in order, at most `per_gpu` at a time for each of `gpus`. `done(job,
    result, error)` is called by one thread at a time, `error` being the exception that the job ended with or None.
    An interrupt, which a terminal sends to what the jobs started as well, is passed on when those that run have ended."""
    waiting, lock, stop = queue.SimpleQueue(), threading.Lock(), threading.Event()
    for job in jobs:
        waiting.put(job)

    def work(gpu):
        while not stop.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            result = error = None
            try:
                result = job(gpu)
            except Exception as caught:  # whatever it is, it belongs to that job
                error = caught
            with lock:
                done(job, result, error)

    # The first job of each GPU begins before the second of any.
    threads = [threading.Thread(target=work, args=(gpu,)) for _ in range(per_gpu) for gpu in gpus]
    while True:
        try:
            for thread in threads:
                if thread.ident is None and not stop.is_set():
                    thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.02)  # an interrupted join() takes its thread for ended
            break
        except KeyboardInterrupt:
            stop.set()  # and goes on waiting, however often it is interrupted
    if stop.is_set():
        raise KeyboardInterrupt
