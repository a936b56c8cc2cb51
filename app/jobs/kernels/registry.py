"""Every kernel by its name; a job names one, and executors look it up here."""

from collections.abc import Mapping
from types import MappingProxyType

from app.jobs.kernels import key_counts, key_hashes, key_skew, scenarios
from app.jobs.kernels.loop import Kernel

_REGISTERED = (
    scenarios.CAPACITY,
    scenarios.DRAWS,
    scenarios.GROUPS,
    scenarios.WHAT_IFS,
    key_hashes.KERNEL,
    key_hashes.OF_FILES,
    key_counts.KERNEL,
    key_counts.OF_FILES,
    key_skew.KERNEL,
)

KERNELS: Mapping[str, Kernel] = MappingProxyType({kernel.name: kernel for kernel in _REGISTERED})
