"""pass@k and pass^k are what counting every choice of k tries gives; intervals are the bootstrap's own."""

from __future__ import annotations

from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.bench.statistics import bootstrap, pass_at_k, pass_hat_k


@given(st.integers(1, 9), st.data())
def test_both_are_the_mean_over_every_choice_of_k_tries(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    choices = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(fmean(map(any, choices)))
    assert pass_hat_k(n, c, k) == pytest.approx(fmean(map(all, choices)))


@given(st.integers(1, 50), st.data())
def test_one_try_is_the_share_that_passed(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert pass_hat_k(n, c, 1) == pytest.approx(c / n)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_estimates_are_unbiased(rate: float, k: int) -> None:
    n = 6
    chances = [comb(n, c) * rate**c * (1 - rate) ** (n - c) for c in range(n + 1)]
    at_k = sum(p * pass_at_k(n, c, k) for c, p in enumerate(chances))
    hat_k = sum(p * pass_hat_k(n, c, k) for c, p in enumerate(chances))
    assert at_k == pytest.approx(1 - (1 - rate) ** k)
    assert hat_k == pytest.approx(rate**k)


@pytest.mark.parametrize(("n", "c", "k"), [(2, 1, 3), (2, 3, 1), (2, -1, 1), (0, 0, 1), (3, 1, 0)])
def test_too_few_tries_are_refused(n: int, c: int, k: int) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="tries"):
            estimate(n, c, k)


def binomial_quantile(n: int, p: float, share: float) -> int:
    below = 0.0
    for x in range(n + 1):
        below += comb(n, x) * p**x * (1 - p) ** (n - x)
        if below >= share:
            return x
    return n


@pytest.mark.parametrize(("tasks", "passed"), [(20, 5), (50, 25), (100, 90)])
def test_of_zeros_and_ones_the_interval_is_the_binomial_one(tasks: int, passed: int) -> None:
    """Resampling n tasks of which a share p passed gives Binomial(n, p) / n."""
    interval = bootstrap([1.0] * passed + [0.0] * (tasks - passed))
    assert interval is not None
    exact = [binomial_quantile(tasks, passed / tasks, share) / tasks for share in (0.025, 0.975)]
    assert interval == pytest.approx(exact, abs=1.01 / tasks)


def test_the_interval_of_many_values_is_that_of_their_mean() -> None:
    values = [i / 999 for i in range(1000)]  # uniform: standard deviation 1/sqrt(12)
    interval = bootstrap(values)
    assert interval is not None
    half = 1.96 / 12**0.5 / 1000**0.5
    assert interval == pytest.approx((0.5 - half, 0.5 + half), abs=0.1 * half)


def test_the_same_values_give_the_same_interval_and_a_single_one_gives_none() -> None:
    assert bootstrap([0.0, 1.0, 1.0]) == bootstrap([0.0, 1.0, 1.0])
    assert bootstrap([1.0]) is None
    assert bootstrap([]) is None
