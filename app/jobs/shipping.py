"""How our code gets to executors: one archive, its name the hash of what is in it, unpacked there once.

Nothing is imported from the archive itself. Compiled loops are kept beside their source, so the source has to lie in
a folder that is the same in every session: an executor unpacks the archive into one named by the hash, and what one
Python compiled, the next one finds.
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

_PACKAGE = Path(app.__file__).parent
_SHIPPED = ("__init__.py", "errors/*.py", "jobs/__init__.py", "jobs/kernels/**/*.py", "core/**/*.py")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that the format knows: the same content is the same archive

# Executors do not have this module: its functions travel as what they are, not by their names.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call] # PySpark gives it none


def write_archive(folder: Path) -> Path:
    """Write the archive of what executors run into a folder; the same code makes the same file, byte for byte."""
    paths = sorted({path for pattern in _SHIPPED for path in _PACKAGE.glob(pattern)})
    draft = folder / "archive"
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(f"app/{path.relative_to(_PACKAGE).as_posix()}", _EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    digest = hashlib.sha256(draft.read_bytes()).hexdigest()
    return draft.rename(folder / f"rackplan-{digest[:32]}.zip")


def task_of(
    archive_name: str, job: "Broadcast[tuple[str, bytes, bytes]]", *, follows: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What mapInArrow runs for each task of a job: (kernel, payload, schema as Arrow writes it).

    `follows`: whether the task's rows are another task's, as `run_task` has it.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use(Path(SparkFiles.get(archive_name)))
        from app.jobs.kernels.loop import run_task  # noqa: PLC0415 — there only now
        from app.jobs.kernels.registry import KERNELS  # noqa: PLC0415

        name, payload, schema = job.value
        declared = pa.ipc.read_schema(pa.py_buffer(schema))
        return run_task(KERNELS, name, payload, declared, batches, follows=follows)

    return task


def use(archive: Path) -> None:
    """Make `app` in this process the archive's."""
    folder = str(unpacked(archive))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import app as found  # noqa: PLC0415 — which one it is hangs on the line above

    if not str(found.__file__).startswith(folder):
        raise RuntimeError(f"{found.__file__} was imported before {folder} was there")


def unpacked(archive: Path) -> Path:
    """The folder that has what the archive has, made where it is not there or not whole."""
    home = Path(tempfile.gettempdir(), f"rackplan-{os.getuid()}")
    home.mkdir(mode=0o700, exist_ok=True)
    status = home.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        # Somebody else could put code there, so it is not used; loops are compiled anew for this process.
        home = Path(tempfile.mkdtemp(prefix="rackplan-"))
    folder = home / archive.stem
    with zipfile.ZipFile(archive) as shipped:
        # Machines clear their temporary folders file by file.
        if all(_size(folder / entry.filename) == entry.file_size for entry in shipped.infolist()):
            return folder
        draft = Path(tempfile.mkdtemp(dir=home))
        shipped.extractall(draft)
        names = [entry.filename for entry in shipped.infolist()]
    try:
        draft.rename(folder)
    except OSError:  # it is there, from another process or not whole: replaced file by file, each in one step
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
