"""Every failure by its code: what documentation, tests and failures from executors are looked up in."""

from collections.abc import Mapping

from app.errors import access, kafka, lookups, machine, reassignments, requests, texts
from app.errors.failure import Failure

_MODULES = (access, kafka, lookups, machine, reassignments, requests, texts)

FAILURES: Mapping[str, type[Failure]] = {
    failure.code: failure
    for module in _MODULES
    for failure in vars(module).values()
    # Categories have no code of their own; a failure that a module imports is the same class a second time.
    if isinstance(failure, type) and issubclass(failure, Failure) and "code" in vars(failure)
}
