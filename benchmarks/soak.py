"""A long run at 80 % of the sustained rate: does memory stay flat?

First the rate that the mix of `load` sustains is measured, for a tenth of the time and a minute at most; then requests
are sent at four fifths of it for `SOAK_SECONDS`, an hour by default. The result has the memory of all processes but
Postgres' at sixty moments and its slope with its standard error over the second half, in which every process has met
all kinds of requests.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.load import MIX, Figures, Served, serving, slope_of, stored_plan

SECONDS = float(os.environ.get("SOAK_SECONDS", "3600"))
SHARE = 0.8
CONNECTIONS = 16
_SAMPLES = 60
_MEASURED_S = 60.0


def run() -> Iterator[Figures]:
    """The rate that is sustained, then the run."""
    with serving() as service:
        read = f"/v1/plans/{stored_plan(service)}"
        service.under(read, MIX, CONNECTIONS, seconds=min(_MEASURED_S, SECONDS / 20))  # slots start, caches fill
        sustained = service.under(read, MIX, CONNECTIONS, seconds=min(_MEASURED_S, SECONDS / 10))["per_s"]
        with ThreadPoolExecutor(1) as threads:
            driven = threads.submit(service.under, read, MIX, CONNECTIONS, seconds=SECONDS, per_s=SHARE * sustained)
            memory = list(_sampled(service))
            measured = driven.result()
        half = memory[len(memory) // 2 :]
        slope, error = slope_of([at for at, _ in half], [size for _, size in half])
        yield Figures(
            {
                "name": "soak",
                "seconds": SECONDS,
                "sustained_per_s": sustained,
                **measured,
                "resident_mib": [round(size / 2**20) for _, size in memory],
                "slope_mib_per_hour": round(3600 * slope / 2**20, 2),
                "error_mib_per_hour": round(3600 * error / 2**20, 2),
            }
        )


def _sampled(service: Served) -> Iterator[tuple[float, int]]:
    started = time.monotonic()
    for number in range(_SAMPLES):
        time.sleep(max(0.0, started + (number + 1) * SECONDS / (_SAMPLES + 1) - time.monotonic()))
        yield time.monotonic() - started, service.resident_bytes()
