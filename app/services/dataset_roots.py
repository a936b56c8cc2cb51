"""Where sweeps may read datasets.

Datasets are read under the roots that the operator configures, and nowhere else. A root is a folder, or the beginning
of a URI up to a `/`. Folders are compared after links and `..` are resolved. A path outside of the roots is rejected
before its existence is checked, so that an answer says nothing about the machine.
"""

import os
import re
from collections.abc import Sequence
from pathlib import PurePath

from app.errors.every import DatasetNotAllowed, FieldPath, quoted

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PATTERN = re.compile(r"[*?\[\]{}\\]")
"""Characters that file systems behind a URI read as a pattern, which could match paths outside of a root."""
LOCAL = "file://"


def is_uri(path: str) -> bool:
    """Whether Spark reads it through its own file systems."""
    return _URI.match(path) is not None and not path.lower().startswith(LOCAL)


def located(path: str, roots: Sequence[str], *, field: FieldPath = ("dataset", "path")) -> str:
    """The location of an allowed dataset: a folder or file with links resolved, or the URI unchanged.

    Raises
    ------
    DatasetNotAllowed : it is under no root, is not absolute, or is a URI with a pattern or `..`.
    """
    if is_uri(path):
        parts = path.split("/")
        is_plain = not _PATTERN.search(path) and ".." not in parts and "." not in parts
        if is_plain and any(_is_under(path, root) for root in roots if is_uri(root)):
            return path
    else:
        resolved = os.path.realpath(_local(path))
        folders = [os.path.realpath(_local(root)) for root in roots if not is_uri(root)]
        if PurePath(_local(path)).is_absolute() and any(
            PurePath(resolved).is_relative_to(folder) for folder in folders
        ):
            return resolved
    allowed = f"under {', '.join(roots)}" if roots else "nowhere: RACKPLAN_DATASET_ROOTS is empty"
    detail = f"datasets are read {allowed}; {quoted(path)} is not there"
    raise DatasetNotAllowed(detail, path=field, value=path, roots=list(roots))


def _local(path: str) -> str:
    return path[len(LOCAL) :] if path.lower().startswith(LOCAL) else path


def _is_under(uri: str, root: str) -> bool:
    return uri.rstrip("/") == root.rstrip("/") or uri.startswith(root.rstrip("/") + "/")
