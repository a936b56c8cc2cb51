"""Keys that the installation makes for itself: random, made when they are first used, never shown."""

from secrets import token_bytes

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.store.tables import installation_keys
from app.store.transaction import Store

_KEY_BYTES = 32


class InstallationKeys(Store):
    """Keys of the installation in one transaction, by what they are for."""

    def of(self, purpose: str) -> bytes:
        """The key for a purpose, made now if there is none."""
        query = sa.select(installation_keys.c.key).where(installation_keys.c.purpose == purpose)
        key: bytes | None = self._reading.scalar(query)
        if key is None:
            row = insert(installation_keys).values(purpose=purpose, key=token_bytes(_KEY_BYTES))
            # Another request may make one at the same time: both then read the one that was first.
            self._writing.execute(row.on_conflict_do_nothing())
            key = self._writing.execute(query).scalar_one()
        return bytes(key)

    def forget(self, beginning: str) -> None:
        """Delete the keys whose purpose begins like this: what they have signed is no longer valid."""
        begins = installation_keys.c.purpose.startswith(beginning, autoescape=True)
        self._writing.execute(installation_keys.delete().where(begins))

    def rotate(self, purpose: str) -> None:
        """Replace the key for a purpose: what the present one has signed is no longer valid."""
        fresh = {"key": token_bytes(_KEY_BYTES), "created_at": sa.func.now()}
        row = insert(installation_keys).values(purpose=purpose, **fresh)
        self._writing.execute(row.on_conflict_do_update(index_elements=[installation_keys.c.purpose], set_=fresh))
