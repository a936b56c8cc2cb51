"""Every kernel by its name; a job names one, and executors look it up here."""

from collections.abc import Mapping

from app.jobs.kernels import key_counts, key_hashes, keys, scenarios
from app.jobs.kernels.loop import Kernel

_REGISTERED = (
    scenarios.KERNEL,
    key_hashes.KERNEL,
    key_hashes.OF_FILES,
    key_counts.KERNEL,
    key_counts.OF_FILES,
    keys.KERNEL,
)

KERNELS: Mapping[str, Kernel] = {kernel.name: kernel for kernel in _REGISTERED}
