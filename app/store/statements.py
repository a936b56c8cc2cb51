"""Statements of SQL by their names in statements.sql."""

import re
from collections.abc import Mapping
from importlib.resources import files

_, *_PARTS = re.split(
    r"^-- :(\w+)\n", files("app.store").joinpath("statements.sql").read_text("utf-8"), flags=re.MULTILINE
)
STATEMENTS: Mapping[str, str] = {name: text.strip() for name, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)}
