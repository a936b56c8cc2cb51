"""An error of Spark as Spark itself structures it: conditions and their parameters, one for each cause.

The text of such an error is Spark's words around a stranger's (lines of a file, names of columns). What went wrong is
therefore read from the exceptions of the JVM, never from that text.
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
    condition : Spark's name for what went wrong, such as `FAILED_READ_FILE.NO_HINT`; None if the exception has none.
    parameters : of that condition, by their names.
    message : the exception's own.
    """

    condition: str | None
    parameters: Mapping[str, str]
    message: str


def causes(error: BaseException | None) -> Iterator[Cause]:
    """The exceptions behind an error of PySpark, the outermost first; none if it has no JVM exception behind it.

    The JVM has to be there still: an exception is an object of its.
    """
    exception = _exception_of(error)
    for _ in range(_MOST_CAUSES):
        if exception is None:
            return
        try:
            yield _cause(exception)
            exception = exception.getCause()
        except (Py4JError, OSError):  # the JVM is gone; what was yielded is all there is
            return


def _exception_of(error: BaseException | None) -> Any:
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    if isinstance(error, PySparkException):
        return getattr(error, "_origin", None)  # PySpark has no public way to it
    return None


def _cause(exception: Any) -> Cause:
    message = str(exception.getMessage() or "")
    try:
        return Cause(exception.getCondition(), dict(exception.getMessageParameters()), message)
    except Py4JError:  # an exception that is not Spark's own has neither
        return Cause(None, {}, message)
