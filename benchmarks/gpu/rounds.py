"""Times columns side by side: rounds in which every column runs once, in random order. What a device is, the caller
says: `prepare()` makes the caches cold and the queue busy, `timed(call)` puts a call between two clocks and returns a
ticket, `finish()` waits and `read(ticket)` gives (seconds, whether the queue ran dry before the call was in it)."""
import random
import statistics
from dataclasses import dataclass, field

from intervals import median_interval


@dataclass
class Samples:
    """The timed calls of one column, one a round."""
    seconds: list = field(default_factory=list)
    late: int = 0  # calls that the device waited for: they are longer than the work

    def median(self):
        return statistics.median(self.seconds)


def measure(device, columns, rounds, seconds, seed):
    """{name: Samples}. At most `rounds` rounds, and fewer if they would take longer than `seconds`, but 11."""
    rng, samples, order = random.Random(seed), {name: Samples() for name in columns}, list(columns)
    cost = run_round(device, columns, order, None)  # the first one is warm-up
    for _ in range(min(rounds, max(11, int(seconds / max(cost, 1e-6))))):
        rng.shuffle(order)
        run_round(device, columns, order, samples)
    return samples


def run_round(device, columns, order, samples):
    """The seconds of a round's timed calls."""
    tickets = []
    for name in order:
        device.prepare()
        tickets.append((name, device.timed(columns[name])))
    device.finish()
    total = 0
    for name, ticket in tickets:
        took, late = device.read(ticket)
        total += took
        if samples:
            samples[name].seconds.append(took)
            samples[name].late += late
    return total


def ratios(numerator, denominator):
    """Of calls in the same rounds."""
    return [a / b for a, b in zip(numerator.seconds, denominator.seconds)]


def interval(numerator, denominator):
    r = median_interval(ratios(numerator, denominator))
    return [r.low, r.middle, r.high]
