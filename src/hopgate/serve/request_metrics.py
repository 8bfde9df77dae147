"""What was asked and how long it took, as Prometheus reads it: counters and histograms, in one process."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Seconds; a recall on a small store takes hundredths, a gate's report seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
OTHER = "other"


class RequestMetrics:
    """Counts requests by route, method and status, and how long each route took.

    Examples
    --------
    >>> metrics = RequestMetrics()
    >>> metrics.observe("/api/v1/recall", "POST", 200, 0.02)
    >>> print(next(line for line in metrics.lines() if line.startswith("hopgate_requests_total")))
    hopgate_requests_total{route="/api/v1/recall",method="POST",status="200"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[route, method, status] += 1
            self._buckets[route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds

    def lines(self, gauges: Mapping[str, float] | None = None) -> Iterator[str]:
        """Give the lines of Prometheus' text format; gauges stand for what a store holds."""
        with self._lock:
            requests, seconds = dict(self._requests), dict(self._seconds)
            buckets = {route: list(counts) for route, counts in self._buckets.items()}
        yield "# HELP hopgate_requests_total Requests that were answered."
        yield "# TYPE hopgate_requests_total counter"
        for (route, method, status), count in sorted(requests.items()):
            yield f'hopgate_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}'
        yield "# HELP hopgate_request_seconds How long requests took."
        yield "# TYPE hopgate_request_seconds histogram"
        for route, counts in sorted(buckets.items()):
            so_far = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                so_far += count
                yield f'hopgate_request_seconds_bucket{{route="{route}",le="{bound}"}} {so_far}'
            yield f'hopgate_request_seconds_sum{{route="{route}"}} {seconds[route]:.6f}'
            yield f'hopgate_request_seconds_count{{route="{route}"}} {so_far}'
        for name, value in (gauges or {}).items():
            yield f"# TYPE hopgate_{name} gauge"
            yield f"hopgate_{name} {value:g}"


class Metered:
    """Counts what passes through."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            # The route as it is declared, and not as it was asked: ids and what strangers make up are no labels.
            route = getattr(scope.get("route"), "path_format", OTHER)
            method = scope["method"] if scope["method"] in _METHODS else OTHER
            self._metrics.observe(route, method, status, time.perf_counter() - begun)


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
