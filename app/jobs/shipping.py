"""Send the code of kernels to executors: one archive, named by the hash of its content, unpacked there once.

Nothing is imported from the archive itself. Compiled loops are cached beside their source, so the source has to be in
the same folder in every session: an executor unpacks the archive into a folder named by the hash, and all Python
processes of the machine share its cache.
"""

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import Broadcast, SparkFiles, cloudpickle

import app
from app.jobs.kernels.loop import Payload

_PACKAGE = Path(app.__file__).parent
_SHIPPED = (
    *("__init__.py", "tracing.py", "errors/*.py", "jobs/__init__.py", "jobs/kernels/**/*.py", "core/**/*.py"),
    "core/**/*.json",
    # A scenario of a reassignment sweep is a request for a plan.
    *("formats/**/*.py", "formats/**/*.sh", "formats/**/*.txt"),
    *("services/*.py", "services/*.json", "store/__init__.py", "store/records.py", "store/unit.py"),
    *(f"services/{kind}/**/*.py" for kind in ("plans", "reassignment", "replicas", "snapshots")),
)
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time of the format: the same content is the same archive

# Executors do not have this module: its functions are pickled by value, not by name.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call] # PySpark has no types for it


def write_archive(folder: Path) -> Path:
    """Write the archive of the executors' code into a folder; the same code makes the same file, byte for byte."""
    paths = sorted({path for pattern in _SHIPPED for path in _PACKAGE.glob(pattern)})
    draft = folder / "archive"
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(f"app/{path.relative_to(_PACKAGE).as_posix()}", _EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return draft.rename(folder / f"rackplan-{hashlib.sha256(draft.read_bytes()).hexdigest()[:32]}.zip")


def task_of(
    archive_name: str, job: "Broadcast[tuple[str, Payload, bytes]]", *, follows: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that mapInArrow runs for each task of a job.

    Parameters
    ----------
    job : (kernel, payload, schema in Arrow's serialisation).
    follows : whether the rows of the task are the output of another kernel; see `run_task`.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use(Path(SparkFiles.get(archive_name)))
        from app.jobs.kernels.loop import run_task  # noqa: PLC0415 — importable only now
        from app.jobs.kernels.registry import KERNELS  # noqa: PLC0415 — importable only now

        name, payload, schema = job.value
        return run_task(KERNELS, name, payload, pa.ipc.read_schema(pa.py_buffer(schema)), batches, follows=follows)

    return task


def use(archive: Path) -> None:
    """Make this process import `app` from the archive."""
    folder = str(unpacked(archive))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import app as imported  # noqa: PLC0415 — the line above decides which one it is

    if not str(imported.__file__).startswith(folder):
        raise RuntimeError(f"{imported.__file__} was imported before {folder} was on the path")


def unpacked(archive: Path) -> Path:
    """The folder with the content of the archive; written if it is missing or incomplete."""
    parent = Path(tempfile.gettempdir(), f"rackplan-{os.getuid()}")
    parent.mkdir(mode=0o700, exist_ok=True)
    status = parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        # Another account could put code there, so it is not used; this process compiles its loops again.
        parent = Path(tempfile.mkdtemp(prefix="rackplan-"))
    folder = parent / archive.stem
    with zipfile.ZipFile(archive) as shipped:
        # Machines clear their temporary folders file by file.
        if all(_size(folder / entry.filename) == entry.file_size for entry in shipped.infolist()):
            return folder
        draft = Path(tempfile.mkdtemp(dir=parent))
        shipped.extractall(draft)
        names = [entry.filename for entry in shipped.infolist()]
    try:
        draft.rename(folder)
    except OSError:  # it exists, complete by another process or incomplete: replace each file atomically
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).replace(folder / name)
        shutil.rmtree(draft)
    return folder


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
