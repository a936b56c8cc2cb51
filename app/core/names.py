"""Characters that no name may have: a name becomes a line of a table, an argument of a command, a scalar of YAML.

C0 and C1 control characters, and the separators U+2028 and U+2029. Ten of them end a line for some reader, as U+0085
does in YAML 1.1, and PostgreSQL stores no NUL.
"""

import re

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
"""These characters in a class of a regular expression, as Python, JSON Schema and pydantic read it."""
_CONTROL = re.compile(f"[{CONTROLS}]")


def control_in(name: str) -> str | None:
    """The first control character or separator of a name, as `U+0085`, or None."""
    found = None if name.isprintable() else _CONTROL.search(name)
    return None if found is None else f"U+{ord(found[0]):04X}"
