"""Characters that terminals, editors, chats and web pages add to a text or change in it, undone.

Colours, also with their escape character shown as `^[` or lost; HTML's entities and tags; blanks, hyphens, quotation
marks and line ends of other kinds; characters without a width; a text printed as one string (`"…\\n…"`, `b'…'`), or
copied from one cell of a table; the fence of a chat, of Jira or of a forum on a line of the text; tabs and line ends as
an editor, a page or `cat -A` shows them; numbers of lines on lines of their own; quoted-printable of mails, in which
lines are divided. None of these is ever part of a tool's output.
"""

import html
import quopri
import re

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])"
    r"|(?:\^\[|\\(?:033|e|x1[bB]))\[\d{1,3}(?:;\d{1,3}){0,4}m"
    r"|^\[0K"
    r"|\[\d{1,3}(?:;\d{1,3}){0,4}m(?![\w.-]*(?:,\d|-\d+\]))",  # `[0m,0]` and `[0m-0]` are partitions of a topic 0m
    re.MULTILINE,
)
_LINE_TAG = re.compile(r"<br ?/?>\n?|</tr>\n?", re.IGNORECASE)
_BETWEEN_CELLS = re.compile(r"</t[hd]>\s*+<t[hd]\b[^<>\n]{0,200}>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:pre|code|p|div|span|details|summary|samp|[ou]l|li|system-out|html|body|table|thead|tbody|t[rhd]|t?t|kbd|[bi]"
    r"|em|strong|font|blockquote)\b[^<>\n]{0,200}>"
    r"|\{color(?::[#\w]{1,40})?\}|(?:<[\w:.-]{1,60}>)?<!\[CDATA\[|\]\]>(?:</[\w:.-]{1,60}>)?",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,6}|#\d{1,5}|#x[\da-fA-F]{1,4});")
_OTHER_KINDS = {
    " ": (0xA0, 0xB7, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000),
    "\t": (0x2192, 0x21E5),
    "": (
        0xAD,
        0xB6,
        0x240A,
        0x240D,
        0x2424,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    ),
    "\n": (0x85, 0x2028, 0x2029),
    "-": (0x2010, 0x2011),
    ":": (0xFF1A,),
    ",": (0xFF0C,),
    '"': range(0x201C, 0x2020),
}
_PLAIN = {character: plain for plain, others in _OTHER_KINDS.items() for character in others}
_UNENCODED = re.compile(r"=(?![\dA-F]{2}|\r?\n)")
_OF_JIRA = r"\{(?:noformat|code|quote)(?::\w{1,20})?\}|\[/?(?:code|quote)\]"
_FENCE = re.compile(
    rf"^(?:```|{_OF_JIRA})(?=\S.*[ \t:])|^(?P<line>[^`\n](?:.*[^`\n])?)(?:```|{_OF_JIRA})(?=[ \r]*$)", re.MULTILINE
)
"""Before or after a line of a text. A line that begins with a quotation mark of its own keeps what ends it."""


_FENCES = ("```", "{noformat", "{code", "{quote", "[/code", "[/quote")
_CONTROLS = re.compile(r"^[\0\a\f]+|[\0\a]+$", re.MULTILINE)
_OUTPUT = re.compile(r"Out\[\d{1,6}\]: ")


def plain(text: str) -> str:
    """The text with plain characters and line ends."""
    for undo in (_decoded, _without_marks, _with_plain_ends, _of_a_string, _numbered_apart):
        text = undo(text)
    return _FENCE.sub(r"\g<line>", text) if any(fence in text for fence in _FENCES) else text


def _without_marks(text: str) -> str:
    """The text without tags and entities, also of a page that shows the source of another one, and without colours."""
    for _ in range(2):
        if "<" in text or "&" in text or "{color" in text:
            text = _TAG.sub("", _LINE_TAG.sub("\n", _BETWEEN_CELLS.sub("\t", text)))
            text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "\x1b" in text or "[0m" in text or "[0K" in text:
        text = _ESCAPE.sub("", text)
    return text if text.isascii() else text.translate(_PLAIN)


def _with_plain_ends(text: str) -> str:
    """The text with line ends and tabs as they are."""
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or "\a" in text:
        text = _CONTROLS.sub("", text if "\n" in text else text.replace("\0", "\n"))
    text = text.replace("<TAB>", "\t")
    if "^I" in text or 3 * text.count("$\n") > 2 * text.count("\n"):
        text = text.replace("^I", "\t").replace("$\n", "\n").removesuffix("$")
    return text


def _of_a_string(text: str) -> str:
    """The text of a string that was printed as a program has it, or of a cell of a table that has lines."""
    text = _unescaped(text) if "\\n" in text or "\\tPartition" in text else text
    if text.startswith('"') and '"' not in (cell := text.rstrip()[1:]).replace('""', "")[:-1]:
        text = cell.removesuffix('"').replace('""', '"')
    return text


def _numbered_apart(text: str) -> str:
    """The text without numbers of its lines that are on every other line, as a copy of a page has them."""
    if text.split("\n", 4)[:4:2] != ["1", "2"]:
        return text
    lines = text.split("\n")
    if any(line != str(at) for at, line in enumerate(lines[::2], 1) if line):
        return text
    lines[::2] = [""] * len(lines[::2])
    return "\n".join(lines)


def _decoded(text: str) -> str:
    """The body of a mail in quoted-printable, after its header if that is there; another text as it is."""
    header, name, body = text.rpartition("quoted-printable")
    is_named = bool(name) or text.count("=\n") + text.count("=\r\n") > 1
    if not is_named or _UNENCODED.search(body):
        return text
    content = quopri.decodestring(body.encode(errors="surrogateescape"))
    return header + name + content.decode(errors="surrogateescape")


def _unescaped(text: str) -> str:
    """The lines and columns of a text that was printed as one string, or with `\\t` in place of tabs."""
    line = text.strip()
    line = line[opening.end() :] if (opening := _OUTPUT.match(line)) is not None else line
    if "\n" not in line and not line.startswith(("{", "[", "(")):
        line = line.removeprefix("b").strip("'\"") if line.startswith(("b'", 'b"', '"', "'")) else line
        text = line.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    return text.replace("\\t", "\t") if "\\tPartition" in text else text
