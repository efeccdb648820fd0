"""Times columns side by side: rounds in which every column runs once, in random order, each after an untimed run of
its own (or, cold, after the caches were written over)."""
import gc
import random
import resource
import statistics
import time
from dataclasses import dataclass, field

import numpy as np

from intervals import median_interval

REPEATS = 4  # of a call that lost the core to another process
LONGEST_REPEATED = 0.02  # seconds; on a busy machine a longer call hardly ever keeps it


@dataclass
class Samples:
    """The timed calls of one column; `rounds` says in which round each was taken."""
    seconds: list = field(default_factory=list)
    rounds: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    preempted: int = 0  # calls that lost the core, among those that count
    repeated: int = 0  # calls that lost it and were taken again

    def median(self):
        return statistics.median(self.seconds)

    def lower_quartile(self):
        return sorted(self.seconds)[len(self.seconds) // 4]


def ratio(numerator, denominator):
    """How much longer `numerator` takes, from the rounds that both were timed in."""
    other = dict(zip(denominator.rounds, denominator.seconds))
    pairs = [s / other[r] for r, s in zip(numerator.rounds, numerator.seconds) if r in other]
    return median_interval(pairs) if pairs else None


class Flush:
    """Writes over more memory than any cache holds."""

    def __init__(self, mebibytes=96):
        self._memory = np.zeros(mebibytes << 17, np.float64)

    def __call__(self):
        self._memory += 1


def once(column, samples, number, may_repeat=False):
    """One timed call in round `number`. With `may_repeat` a call that lost the core does not count; whether it
    counted."""
    before = resource.getrusage(resource.RUSAGE_THREAD)
    start = time.perf_counter()
    column.call()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_THREAD)
    column.release()
    preempted = after.ru_nivcsw > before.ru_nivcsw
    if preempted and may_repeat and seconds < LONGEST_REPEATED:
        samples.repeated += 1
        return False
    samples.seconds.append(seconds)
    samples.rounds.append(number)
    samples.faults.append(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt)
    samples.preempted += preempted
    return True


def warm(column, limit=8):
    """Calls until one meets no page fault; its seconds."""
    for _ in range(limit):
        samples = Samples()
        once(column, samples, 0)
        if not samples.faults[0]:
            break
    return samples.seconds[0]


def measure(columns, rounds, seconds, seed, flush=None):
    """{name: Samples}. A column gets about `seconds`, so slow ones take part in fewer rounds, but in 5 at least (3 if
    a call takes over a second)."""
    rng, samples = random.Random(seed), {name: Samples() for name in columns}
    wanted = {}
    for name, column in columns.items():
        cost = 2 * warm(column)
        wanted[name] = min(rounds, max(int(seconds / cost), 5 if cost < 2 else 3))
    turns = rng.sample(range(rounds), rounds)  # who takes part in fewer rounds shares them with all others
    order = list(columns)
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            rng.shuffle(order)
            for name in order:
                if turns[number] >= wanted[name]:
                    continue
                for attempt in range(REPEATS + 1):
                    if flush:
                        flush()
                    else:
                        columns[name].call()
                        columns[name].release()
                    if once(columns[name], samples[name], number, may_repeat=attempt < REPEATS):
                        break
    finally:
        gc.enable()
    return samples
