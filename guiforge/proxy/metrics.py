"""Metrics: what the proxy counts, in the form that Prometheus reads.

Invariant: no label holds what a harness or a model wrote; each label has few values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_NAMESPACE = "guiforge_proxy"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250)
_BATCH = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The counters of one proxy.

    How to read them: `guiforge_proxy_own_seconds` is what a harness waits on the proxy's account, the policy's time
    taken out; `queue` is who waits for memory or for a weights update; a growing `commit_wait_seconds` says that the
    run's disk is slower than its calls.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, text: str, labels: Sequence[str] = ()) -> Counter:
            return Counter(name, text, labels, namespace=_NAMESPACE, registry=self.registry)

        def histogram(name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = _SECONDS
                      ) -> Histogram:  # fmt: skip
            return Histogram(name, text, labels, namespace=_NAMESPACE, registry=self.registry, buckets=buckets)

        self._calls = counter("calls", "Calls by wire and end: replied, cut, failed", ["wire", "end"])
        self._refused = counter("refused", "Requests refused before the policy was asked", ["why"])
        self._faults = counter("upstream_faults", "Faults of an upstream, by class", ["upstream", "fault"])
        self._tokens = counter("tokens", "Tokens, as the upstream counted them", ["kind"])
        self._images = counter("images", "Images in recorded requests, as often as they came")
        self._seconds = histogram("call_seconds", "From request to last byte", ["wire"])
        self._own = histogram("own_seconds", "From request to last byte, less the upstream")
        self._first = histogram("first_byte_seconds", "From request to first byte")
        self._commit = histogram("commit_seconds", "One transaction")
        self._wait = histogram("commit_wait_seconds", "A call's wait for its commit")
        self._batch = histogram("commit_calls", "Calls in one transaction", buckets=_BATCH)

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge that is read when it is asked for."""
        Gauge(name, text, namespace=_NAMESPACE, registry=self.registry).set_function(value)

    def ended(self, wire: str, end: str, *, total_s: float, own_s: float, first_s: float | None) -> None:
        """A call ended."""
        self._calls.labels(wire, end).inc()
        self._seconds.labels(wire).observe(total_s)
        self._own.observe(own_s)
        if first_s is not None:
            self._first.observe(first_s)

    def used(self, prompt: int, sampled: int, images: int) -> None:
        """What a call took."""
        self._tokens.labels("prompt").inc(prompt)
        self._tokens.labels("sampled").inc(sampled)
        if images:
            self._images.inc(images)

    def refused(self, why: str) -> None:
        """A request was refused."""
        self._refused.labels(why).inc()

    def fault(self, upstream: str, fault: str) -> None:
        """An upstream failed."""
        self._faults.labels(upstream, fault).inc()

    def committed(self, calls: int, seconds: float, waits: Iterable[float]) -> None:
        """A transaction was made."""
        self._commit.observe(seconds)
        self._batch.observe(calls)
        for wait in waits:
            self._wait.observe(wait)

    def text(self) -> bytes:
        """All of them, in Prometheus's text format."""
        return generate_latest(self.registry)
