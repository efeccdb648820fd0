"""What samples say: medians, and how sure they are. Needs Python only."""
import math
import random
import statistics
from dataclasses import dataclass


@dataclass
class Ratio:
    """A median, and values around it that hold the true one with at least 95% confidence."""
    low: float
    middle: float
    high: float


def median_interval(values):
    """From order statistics: exact, whatever the distribution (with fewer than 6 values: the extremes, less sure)."""
    values, n = sorted(values), len(values)
    tail, term, k = 0.0, 0.5**n, 0  # k values are cut at each end while P(Binomial(n, 1/2) < k) stays below 2.5%
    while k < n // 2 and tail + term <= 0.025:
        tail += term
        term *= (n - k) / (k + 1)
        k += 1
    cut = max(k - 1, 0)
    return Ratio(values[cut], statistics.median(values), values[n - 1 - cut])


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def bootstrap_geomean(lists, seed, repeats=500):
    """The geometric mean of the medians of `lists`, and the 95% interval of what it would be if their values were drawn
    again (each list from itself)."""
    rng = random.Random(seed)
    drawn = sorted(geomean([statistics.median(rng.choices(values, k=len(values))) for values in lists])
                   for _ in range(repeats))
    cut = max(int(0.025 * repeats) - 1, 0)
    return Ratio(drawn[cut], geomean([statistics.median(values) for values in lists]), drawn[repeats - 1 - cut])
