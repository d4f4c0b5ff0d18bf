"""Statistics of repeated tries: pass@k and pass^k of one task, and bootstrap intervals over tasks.

Invariant: everything is a function of counts and a fixed seed; the same counts give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of k tries passes, of which c of n did: unbiased, 1 - C(n-c, k) / C(n, k).

    The mean over all choices of k of the n tries. Raises ValueError for less than k tries. Source: Chen et al. 2021.
    """
    _check(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """pass^k, the probability that all of k tries pass: unbiased, C(c, k) / C(n, k). Source: Yao et al. 2024."""
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (1 <= k <= n and 0 <= c <= n):
        raise ValueError(f"{c} passes in {n} tries say nothing of {k} tries; needed are 0 <= c <= n and 1 <= k <= n")


def bootstrap(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95% interval of the mean of these values, one a task, by resampling tasks (percentiles of 10,000 resamples).

    None for less than two values, of which nothing can be said. Values that are all equal give an interval without
    width: with few tasks it is too narrow, as every bootstrap is. Source: Efron 1979.
    """
    if len(values) < 2:
        return None
    data = np.asarray(values, float)
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [data[rng.integers(len(data), size=(500, len(data)))].mean(1) for _ in range(RESAMPLES // 500)]
    )
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, (tail, 100 - tail))
    return float(low), float(high)
