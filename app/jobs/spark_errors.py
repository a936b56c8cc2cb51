"""Errors of Spark in their structured form: a condition and its parameters for each cause.

The message of such an error quotes untrusted text (lines of a file, names of columns). Errors are therefore classified
by the exceptions of the JVM, never by their messages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

_MOST_CAUSES = 20


@dataclass(frozen=True, slots=True)
class Cause:
    """One exception of a chain.

    Parameters
    ----------
    condition : Spark's error condition, such as `FAILED_READ_FILE.NO_HINT`; None if the exception has none.
    parameters : parameters of the condition, by name.
    message : the message of the exception.
    """

    condition: str | None
    parameters: Mapping[str, str]
    message: str


def causes(error: BaseException | None) -> Iterator[Cause]:
    """The chain of JVM exceptions behind an error of PySpark, the outermost first; empty if there is none.

    The JVM must still run: the exceptions are its objects.
    """
    exception = _exception_of(error)
    for _ in range(_MOST_CAUSES):
        if exception is None:
            return
        try:
            yield _cause(exception)
            exception = exception.getCause()
        except (Py4JError, OSError):  # the JVM has ended, and with it the rest of the chain
            return


def _exception_of(error: BaseException | None) -> Any:
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    if isinstance(error, PySparkException):
        return getattr(error, "_origin", None)  # PySpark has no public attribute for it
    return None


def _cause(exception: Any) -> Cause:
    message = str(exception.getMessage() or "")
    try:
        return Cause(exception.getCondition(), dict(exception.getMessageParameters()), message)
    except Py4JError:  # an exception that is not Spark's own has neither
        return Cause(None, {}, message)
