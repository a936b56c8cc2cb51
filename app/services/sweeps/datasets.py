"""Which datasets a caller may have read: those under the roots that the operator names, and nothing else.

A root is a folder, or the beginning of a URI up to a `/`. Folders are compared after links and `..` are resolved. What
lies outside is refused before anybody looks whether it is there, so that an answer says nothing about the machine.
"""

import os
import re
from collections.abc import Sequence
from pathlib import PurePath

from app.errors import DatasetNotAllowed, FieldPath
from app.errors.quotation import quoted

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PATTERN = re.compile(r"[*?\[\]{}\\]")
"""What file systems behind a URI take for a pattern, which could name what no prefix shows."""
LOCAL = "file://"


def is_uri(path: str) -> bool:
    """Whether Spark's own file systems are asked for it."""
    return _URI.match(path) is not None and not path.lower().startswith(LOCAL)


def located(path: str, roots: Sequence[str], *, field: FieldPath = ("dataset", "path")) -> str:
    """Where an allowed dataset is: a folder or file without links in it, or a URI as it was written.

    Raises
    ------
    DatasetNotAllowed : it is under none of the roots, is not absolute, or is a URI with a pattern or `..` in it.
    """
    if is_uri(path):
        parts = path.split("/")
        is_plain = not _PATTERN.search(path) and ".." not in parts and "." not in parts
        if is_plain and any(_is_under(path, root) for root in roots if is_uri(root)):
            return path
    else:
        there = os.path.realpath(_local(path))
        folders = [os.path.realpath(_local(root)) for root in roots if not is_uri(root)]
        if PurePath(_local(path)).is_absolute() and any(PurePath(there).is_relative_to(folder) for folder in folders):
            return there
    allowed = f"under {', '.join(roots)}" if roots else "nowhere: RACKPLAN_DATASET_ROOTS is empty"
    detail = f"datasets are read {allowed}; {quoted(path)} is not there"
    raise DatasetNotAllowed(detail, path=field, value=path, roots=list(roots))


def _local(path: str) -> str:
    return path[len(LOCAL) :] if path.lower().startswith(LOCAL) else path


def _is_under(uri: str, root: str) -> bool:
    return uri.rstrip("/") == root.rstrip("/") or uri.startswith(root.rstrip("/") + "/")
