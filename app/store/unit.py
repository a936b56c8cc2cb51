"""The unit of work as a type, for modules that are imported without the database driver."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.store.database import UnitOfWork as UnitOfWork  # noqa: PLC0414 -- exported
else:
    UnitOfWork = Any
