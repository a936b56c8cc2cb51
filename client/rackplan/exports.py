"""Files that the service makes of plans and sweeps."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True, slots=True)
class Export:
    """A file of a plan or a sweep: its content, media type and name."""

    content: bytes
    media_type: str
    name: str

    @property
    def text(self) -> str:
        """The content of a file that is text."""
        return self.content.decode()

    def save(self, target: str | Path) -> list[Path]:
        """Write the file, and return what was written.

        Parameters
        ----------
        target : a file, or a directory, if it exists or its name ends with `/`. In a directory the file has its own
            name, and an archive is unpacked. Directories are made; files are replaced.
        """
        path = Path(target)
        if not (path.is_dir() or str(target).endswith("/")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.content)
            return [path]
        path.mkdir(parents=True, exist_ok=True)
        if self.media_type != "application/zip":
            (path / self.name).write_bytes(self.content)
            return [path / self.name]
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            return [Path(archive.extract(member, path)) for member in archive.infolist() if not member.is_dir()]

    def to_arrow(self) -> Any:
        """The `pyarrow.Table` of an Arrow stream; needs `rackplan-client[arrow]`."""
        import pyarrow.ipc  # noqa: PLC0415 -- an extra

        with pyarrow.ipc.open_stream(self.content) as stream:
            return stream.read_all()


def export_of(response: httpx.Response, *, default_name: str) -> Export:
    """The file of a response."""
    _, _, name = response.headers.get("content-disposition", "").partition("filename=")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()
    # Only the last part of the name, so that no service can choose the directory.
    return Export(response.content, media_type, Path(name.strip('"')).name or default_name)
