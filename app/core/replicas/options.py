"""Options of one placement algorithm alone: what a request may say, and how the algorithm reads it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from app.core.model import Placement
from app.errors import Json

OptionValues: TypeAlias = Mapping[str, Any]
"""Options by name as a request gives them; None and a missing name are the same: not given."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a request.

    Parameters
    ----------
    form : `choice` is one of `choices`; `names` a list of names; `values_by_name` lists of names by name.
    description : for the caller; the algorithm's name is added to it.
    """

    name: str
    form: Literal["choice", "names", "values_by_name"]
    description: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of one algorithm.

    Parameters
    ----------
    fields : what a request may say.
    read : given values to the record that the algorithm follows, defaults filled in; raises what is wrong with them.
    canonical : such a record as JSON with nothing left to guess, for the hash of a plan.
    follow : the placement under such a record, a `registry.Place`.
    rack_mode_conflict : why a request with these options names no rack mode; None if it may.
    """

    fields: Sequence[Option]
    read: Callable[[OptionValues], Any]
    canonical: Callable[[Any], dict[str, Json]]
    follow: Callable[[Any], Callable[..., Placement]]
    rack_mode_conflict: str | None = None
