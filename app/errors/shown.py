"""Text that a stranger wrote, as a message repeats it: on one line, printable, of bounded length."""

LONGEST_SHOWN = 200
"""Characters of a stranger's text that a message repeats, unless the message states another number."""


def shown(text: str, *, longest: int = LONGEST_SHOWN) -> str:
    r"""Escape and shorten a text for a message.

    Parameters
    ----------
    text : any text: a line of a file, a column's name, another program's error.
    longest : characters of the answer; if some of the text are left out, `…` follows them.

    Returns
    -------
    The beginning of the text. Control characters, line breaks, bidirectional overrides and lone surrogates are replaced
    by their escapes, so that neither a terminal nor a log takes them for its own.

    Examples
    --------
    >>> shown("1,a\x1b[2J\n")
    '1,a\\x1b[2J\\n'
    >>> shown("abcdef", longest=3)
    'abc…'
    """
    escaped = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text[:longest]
    )
    return escaped[:longest] + "…" * (len(text) > longest or len(escaped) > longest)
