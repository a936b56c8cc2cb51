"""Addresses of the database: one, or several, of which a new connection takes the first suitable one."""

import re
from typing import Any

import sqlalchemy as sa

from app.errors.machine import SettingNotValid

DRIVER = "postgresql+psycopg"
_PORT = 5432
_PARTS = re.compile(
    r"(?P<before>[^:/?#]+://(?:[^/?#]*@)?)(?P<hosts>[^/?#@]*)(?P<database>/[^?#]*)?(?:\?(?P<query>.*))?"
)
# A machine that is gone answers nothing, and packets to it are repeated for a quarter of an hour unless this says
# otherwise. Nothing is sent while a statement is awaited: keepalives find out then.
_NOTICES_WITHIN = {
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,
    "connect_timeout": 10,
}


def parsed(url: str) -> sa.URL:
    """The URL of a database; several hosts, `postgresql://a:5432,b:5432/…`, become parameters of it, as `str` has it.

    SQLAlchemy does not read libpq's lists of hosts with ports, and libpq does not read SQLAlchemy's.
    """
    found = _PARTS.fullmatch(url)
    if found is not None and "," in found["hosts"]:
        hosts = [each if ":" in each else f"{each}:{_PORT}" for each in found["hosts"].split(",")]
        query = "&".join([*(f"host={each}" for each in hosts), *([found["query"]] if found["query"] else [])])
        url = f"{found['before']}{found['database'] or '/'}?{query}"
    try:
        return sa.make_url(url).set(drivername=DRIVER)
    except sa.exc.ArgumentError as invalid:
        raise SettingNotValid("RACKPLAN_DATABASE_URL is no URL of a database: postgresql://host:5432/name") from invalid


def parameters(url: sa.URL) -> dict[str, Any]:
    """Parameters of a connection of the driver: the URL's, and limits that the URL does not state."""
    _, stated = url.get_dialect()().create_connect_args(url)
    return {**_NOTICES_WITHIN, **stated}
