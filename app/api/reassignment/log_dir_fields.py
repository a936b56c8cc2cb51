"""The field `log_dirs` of a request."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from app.api.models.fields import INT64_MAX, LogDirPath
from app.api.models.fields import Request as RequestModel

BrokerKey = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$", description="A broker's id, as JSON writes a name.")]
BrokerOrAll = Annotated[str, Field(pattern=r"^(\*|0|[1-9][0-9]{0,9})$", description="A broker's id, or `*`.")]


class LogDirToleranceFields(RequestModel):
    """A ceiling above the mean of a broker's log directories: mean × (1 + tolerance), or the lowest reachable one."""

    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    """Share of the mean by which a directory may be above it, from 0 to 1."""


def _word_or_share(value: object) -> str:
    return "word" if isinstance(value, str) else "share"


LogDirBalance = Annotated[
    Annotated[Literal["tight", "keep"], Tag("word")] | Annotated[LogDirToleranceFields, Tag("share")],
    Discriminator(_word_or_share),
]


class LogDirsFields(RequestModel):
    """Log directories (JBOD) that replicas are placed in and moved between. No directory is above its size, or above
    `batches.max_disk_share` of it, at any step.
    """

    balance: LogDirBalance = Field(
        "keep",
        description="Balance of the directories of each broker, by their share in use, or by bytes if a size is "
        "unknown. `tight`: the smallest largest share; `keep`: only necessary moves; a tolerance: the fewest bytes "
        "moved within it.",
    )
    drain: dict[BrokerKey, Annotated[list[LogDirPath], Field(min_length=1, max_length=1000)]] = Field(
        default_factory=dict, description="By broker, directories that have no replica after the plan."
    )
    total_bytes: dict[BrokerOrAll, dict[LogDirPath, Annotated[int, Field(ge=1, le=INT64_MAX)]]] = Field(
        default_factory=dict,
        description="By broker, `*` for all others, and path: bytes of the file system; they override those of the "
        "snapshot.",
    )
