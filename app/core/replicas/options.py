"""Options of a single placement algorithm: the fields of a request, and how the algorithm reads them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from app.core.model import Placement
from app.errors import Json

OptionValues: TypeAlias = Mapping[str, Any]
"""Options of a request by name; None is the same as an absent name."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a request.

    Parameters
    ----------
    form : `choice` is one of `choices`; `names` a list of names; `values_by_name` lists of names by name; `integer`
        is within `bounds`; `flag` is true or false.
    description : for the caller; the algorithm's name is added to it.
    """

    name: str
    form: Literal["choice", "names", "values_by_name", "integer", "flag"]
    description: str
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of one algorithm.

    Parameters
    ----------
    fields : of a request.
    read : values → the record of options, with defaults; raises `Failure`s if they are invalid.
    canonical : the record as complete JSON, for the hash of a plan.
    follow : the record → the placement, a `registry.Place`.
    rack_mode_conflict : the reason why these options exclude a rack mode; None if they do not.
    """

    fields: Sequence[Option]
    read: Callable[[OptionValues], Any]
    canonical: Callable[[Any], dict[str, Json]]
    follow: Callable[[Any], Callable[..., Placement]]
    rack_mode_conflict: str | None = None
