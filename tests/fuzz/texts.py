"""`python -m tests.fuzz.texts`: change texts of tools by accident, and count what their reader would notice.

Each text is a sample, as it is or with something around its lines (`FRAMES`). A change of `--kinds plain` deletes or
repeats a line, cuts the end off or replaces a sign by one that is no digit; `wide` also exchanges, cuts, joins and
loses several lines, puts in some of another text, and writes digits. A changed text is then

    the same      nothing has another value
    refused       with the line
    noticed       by a warning that the text as it was does not have
    undetectable  what it says now could be true, see `undetectable`
    unnoticed     which is a fault, as is any exception but a rejection: the exit code is 1

Counts are by kind of change; each fault is printed with its seed, and `--seed N --texts 1` repeats it.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import cache
from random import Random
from typing import Any

from app.errors.requests import MalformedText
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.services.cautions import Caution
from app.services.snapshots import cautions
from tests.conftest import ROOT
from tests.formats.test_harmless_lines import FRAMES

_FOLDERS = ("tests/samples", "tests/reports")
_LARGEST_BYTES = 20_000
_NO_DIGITS = "!#%&;:,.()[]{}\"'\t \\=-_xZ"
PLAIN = ("lose a line", "repeat a line", "cut the end", "another sign")
WIDE = (*PLAIN, "lose lines", "exchange lines", "cut a line", "join lines", "put lines in")
_STANDING = ("brokers_without_rack", "kafka_version_assumed", "prefix_removed", "reassignment_in_progress")
"""Warnings that tell what a text is of: of a changed one they only have another count."""
_IDENTITY = ("id", "name", "group_id", "member_id", "topic", "partition", "path")
_DIGITS = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_END_OF_WORD, _START_OF_WORD = re.compile(r"[\w./-]*\Z"), re.compile(r"[\w./-]*")

Facts = frozenset[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says: the values by their place, the warnings with their code, the lines that were ignored; or the
    rejection of it.
    """

    facts: Facts = frozenset()
    notices: frozenset[tuple[str, str]] = frozenset()
    skipped: Counter[str] = field(default_factory=Counter)
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A text before and after, and the name of the one whose lines were put in."""

    kind: str
    before: str
    after: str
    other: str | None = None

    @property
    def lines(self) -> list[str]:
        """The lines that were there and are not, or are elsewhere."""
        pairs = zip(self.before.split("\n"), self.after.split("\n"), strict=False)
        return [old.strip() for old, new in pairs if old != new]

    @property
    def is_lost(self) -> bool:
        """Whether the text has lost whole lines, or its end."""
        return self.kind.startswith("lose") or self.before.startswith(self.after)


def main() -> None:
    """Count, print, and exit with 1 if a change was not noticed that could be."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.texts", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first text; the next has the next")
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--kinds", choices=("plain", "wide"), default="plain")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for seed in range(options.seed, options.seed + options.texts):
        name, change = changed(seed, WIDE if options.kinds == "wide" else PLAIN)
        result = judged(name, change)
        counts[change.kind, result] += 1
        if result in ("unnoticed", "failed"):
            lines = unified_diff(change.before.split("\n"), change.after.split("\n"), lineterm="", n=0)
            sys.stdout.write("\n".join([f"{result}: seed {seed}, {name}, {change.kind}", *[*lines][2:9], ""]))
    sys.stdout.write("\n".join(table(counts)) + "\n")
    raise SystemExit(any(result in ("unnoticed", "failed") for _, result in counts))


def table(counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """The counts by kind of change, as Markdown."""
    results = ("same", "refused", "noticed", "undetectable", "unnoticed", "failed")
    yield f"| change | {' | '.join(results)} |"
    yield "|---" * (len(results) + 1) + "|"
    kinds = dict.fromkeys(kind for kind, _ in sorted(counts))
    for kind in kinds:
        yield f"| {kind} | {' | '.join(str(counts.get((kind, result), 0)) for result in results)} |"
    sums = [sum(counts.get((kind, result), 0) for kind in kinds) for result in results]
    yield f"| all {sum(sums)} | {' | '.join(map(str, sums))} |"


def changed(seed: int, kinds: tuple[str, ...]) -> tuple[str, Change]:
    """The name of a text, and the change of it that a seed stands for."""
    draw = Random(seed)
    known = texts()
    name = draw.choice(sorted(known))
    before = known[name]
    lines = before.split("\n")
    kind, at, sign = draw.choice(kinds), draw.randrange(len(lines)), draw.randrange(len(before))
    other = None
    match kind:
        case "lose a line":
            del lines[at]
        case "lose lines":
            del lines[at : at + draw.randint(2, 5)]
        case "repeat a line":
            lines.insert(at, lines[at])
        case "exchange lines":
            with_ = draw.randrange(len(lines))
            lines[at], lines[with_] = lines[with_], lines[at]
        case "cut a line":
            lines[at] = lines[at][: draw.randint(0, len(lines[at]))]
            kind = kind if lines[at].replace("^[[32m", "").strip() else "lose a line"
        case "join lines":
            lines[at : at + 2] = [draw.choice(("", " ", "\t")).join(lines[at : at + 2])]
        case "put lines in":
            other = draw.choice(sorted(known))
            its = known[other].split("\n")
            start = draw.randrange(len(its))
            lines[at:at] = its[start : start + draw.randint(1, 3)]
        case "cut the end":
            return name, Change(kind, before, before[:sign])
        case _:
            signs = _NO_DIGITS if kinds is PLAIN else _NO_DIGITS + "0123456789"
            return name, Change(kind, before, before[:sign] + draw.choice(signs) + before[sign + 1 :])
    return name, Change(kind, before, "\n".join(lines), other)


@cache
def texts() -> dict[str, str]:
    """The samples that are read, as they are and framed, by name."""
    paths = [path for folder in _FOLDERS for path in sorted((ROOT / folder).glob("*.*"))]
    plain = {
        path.name: path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in (".txt", ".json", ".yaml") and path.stat().st_size < _LARGEST_BYTES
    }
    plain = {name: text for name, text in plain.items() if reading(text).refused is None}
    draw = Random(0)
    framed = {f"{name} in {frame}": FRAMES[frame](plain[name]) for name in plain for frame in draw.sample([*FRAMES], 3)}
    return plain | {name: text for name, text in framed.items() if reading(text).refused is None}


def reading(text: str) -> Reading:
    """What a text says. Raises what is no rejection."""
    try:
        found = assemble("c", [Upload.of(text.encode(), "t")])
    except MalformedText as malformed:
        return Reading(refused=malformed.detail)
    noted = (*cautions.of_assembly(found), *cautions.of_cluster(found.cluster))
    notices = [(one.code, "" if _is_standing(one) else one.detail) for one in noted if one.code != "lines_skipped"]
    skipped = Counter(place.upload.text.split("\n")[place.line - 1].strip() for place in found.skipped)
    facts = frozenset(_facts(json.loads(snapshot_json.write(found.cluster)), ()))
    return Reading(facts, frozenset(notices), skipped)


def _is_standing(caution: Caution) -> bool:
    return caution.code in _STANDING and "joined" not in caution.detail


@cache
def _reading_of(name: str) -> Reading:
    return reading(texts()[name])


def judged(name: str, change: Change) -> str:
    """What becomes of a change."""
    was = _reading_of(name)
    try:
        now = reading(change.after)
    except Exception:  # noqa: BLE001 -- whatever it is, it would be an answer 500
        return "failed"
    if now.refused is not None:
        return "refused"
    if now.facts == was.facts:
        return "same"
    if now.notices - was.notices or now.skipped - was.skipped:
        return "noticed"
    return "undetectable" if undetectable(change, was.facts, now.facts) else "unnoticed"


def undetectable(change: Change, was: Facts, now: Facts) -> bool:
    """Whether a tool could have printed the changed text, so that nothing in it contradicts what it says.

    It could if whole lines are lost, or the end of a text, and what is left has the values that it had, or a smaller
    sum of disks, or the replicas of the next record; if lines of one form were exchanged, so that lists have another
    order; if some lines of another text came in with their own values, in their order; if a number has another digit,
    or a name another sign or end.
    """
    if change.is_lost:
        holders = {fact[-1] for fact in was if "replicas" in fact}  # are the brokers if none is listed any more
        values = frozenset(fact for fact in now if "disk_bytes" not in fact and not holders & {*fact[:2]})
        return _unordered(values) <= _unordered(was) or _is_quoted(was, now) or _has_other_end(change, was, now)
    if change.kind == "exchange lines":
        return (
            _unordered(was) == _unordered(now)
            or len({_DIGITS.sub("0", line).split()[0] for line in change.lines if line}) == 1
        )
    if change.other is not None:
        values = frozenset(fact for fact in now if fact[-2] != "type")  # of a group below the header of another tool
        return _unordered(values) <= _unordered(was | _reading_of(change.other).facts)
    if change.kind == "cut a line":
        return _has_other_end(change, was, now) or _is_quoted(was, now) or _has_other_unit(change, was, now)
    return change.kind == "another sign" and _has_other_sign(change, was, now)


def _is_quoted(was: Facts, now: Facts) -> bool:
    """Whether a quotation mark, of which the other one is lost, counts for a part of a name."""
    return any(_renamed(now, quote, "") <= _renamed(was, quote, "") for quote in ("'", '"', "`", "**"))


def _has_other_sign(change: Change, was: Facts, now: Facts) -> bool:
    """Whether the values are as before but for a name or number around the sign that was replaced."""
    pairs = zip(change.before, change.after, strict=True)
    at = next(at for at, (old, new) in enumerate(pairs) if old != new)
    left, right = _around(change.before[:at], change.before[at + 1 :])
    old, new = (left + text[at] + right for text in (change.before, change.after))
    rest = change.after[at + 1 + len(right) :]
    if new.isidentifier() and rest.startswith(('":', '\\":')):
        return True  # the name of a field, which then is unknown
    if any(map(_NUMBER.fullmatch, (old, right, left))) and any(map(_NUMBER.fullmatch, (new, new.strip()))):
        return True
    if "-" in (old, new) and (now <= was or was <= now):
        return True  # which stands for no number
    if change.before[at].isdigit() and (change.after[at].isspace() or (not left and not right)):
        return True  # the number has lost a digit, or is a name, as of a subtopology
    if now <= was | {fact for fact in now if new in fact or "null" in str(fact[-1])}:
        return True  # what stood for no name
    words = [(one, other) for one in (old, right, left) for other in (new, left, right)]
    before, after = _around(change.before[:at].removesuffix(" "), change.before[at + 1 :].removeprefix(" "))
    words += [(after, f"{change.after[at]} {after}"), (before, f"{before} {change.after[at]}")]
    words.append((old[max(0, len(left) - 3) :][:7], new[max(0, len(left) - 3) :][:7]))
    # A word may begin with the end of an escape, or with a sign that is before the line.
    words += [(one[1:], other[1:]) for one, other in words if one[:1] == other[:1]]
    return any(_are_renamed(was, now, *pair) for pair in words if all(pair) and not any(map(_NUMBER.fullmatch, pair)))


def _are_renamed(was: Facts, now: Facts, old: str, new: str) -> bool:
    """Whether there is nothing new but another name, of which one may be a part of the other."""
    return any(_renamed(was, *pair) >= _renamed(now, *pair) for pair in ((old, new), (new, old)))


def _unordered(facts: Facts) -> Facts:
    """The facts without the places of replicas in their lists."""
    return frozenset((*fact[:-2], fact[-1]) if "replicas" in fact else fact for fact in facts)


def _has_other_end(change: Change, was: Facts, now: Facts) -> bool:
    """Whether nothing differs but a name whose end was cut off."""
    at = next((at for at, (old, new) in enumerate(zip(change.before, change.after, strict=False)) if old != new), None)
    at = len(change.after) if at is None else at
    left, right = _around(change.before[:at], change.before[at:])
    ends = ((left + right, left), (left[-3:] + right, left[-3:]))
    return bool(left) and any(_renamed(was, *pair) >= _renamed(now, *pair) for pair in ends)


def _has_other_unit(change: Change, was: Facts, now: Facts) -> bool:
    """Whether nothing differs but bytes, whose unit was cut to another one: `1Ti` to `1T`."""
    lost = {line for line in change.before.split("\n") if line not in change.after.split("\n")}
    return all("disk_bytes" in fact for fact in was ^ now) and any(re.search(r"\d[KMGTPE]i$", line) for line in lost)


def _around(before: str, after: str) -> tuple[str, str]:
    """The last word before a place, and the first one after it; each may be empty."""
    last, first = _END_OF_WORD.search(before[-300:]), _START_OF_WORD.match(after)
    return last[0] if last else "", first[0] if first else ""


def _renamed(facts: Facts, old: str, new: str) -> frozenset[str]:
    """The facts as texts, in which a name is another one, so that those which only differ in it are equal."""
    return frozenset("\0".join(map(str, fact)).replace(old, new.strip()) for fact in facts)


def _facts(value: Any, place: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    """Each value after its place, in which members of lists are by what identifies them; lists of numbers are whole."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _facts(one, (*place, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for one in value:
            yield from _facts(one, (*place, *[one[name] for name in _IDENTITY if name in one]))
    elif isinstance(value, list):
        is_ordered = place[-1] == "replicas"
        yield from [(*place, *([at] if is_ordered else []), one) for at, one in enumerate(value)]
    else:
        yield (*place, value)


if __name__ == "__main__":
    main()
