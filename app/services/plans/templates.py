"""Files of plans that are texts with names to fill in."""

import re
from pathlib import Path


def filled(template: Path, **values: object) -> str:
    """The text of a template, with the value of `name` for `@NAME@`. Values are inserted as they are."""
    return re.sub("@([A-Z_]+)@", lambda found: str(values[found[1].lower()]), template.read_text(encoding="utf-8"))
