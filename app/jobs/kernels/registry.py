"""Every kernel by its name; a job names one, and executors look it up here."""

from collections.abc import Mapping

from app.jobs.kernels import key_counts, keys, scenarios
from app.jobs.kernels.loop import Kernel

KERNELS: Mapping[str, Kernel] = {
    kernel.name: kernel for kernel in (scenarios.KERNEL, key_counts.KERNEL, key_counts.OF_FILES, keys.KERNEL)
}
