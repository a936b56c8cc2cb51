"""A sweep: a base scenario, what varies, and what is looked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from app.core.capacity.axes import Axis, read_axis
from app.core.capacity.fields import Fields, as_integer, as_number, impossible
from app.core.capacity.ranking import CONSTRAINTS, OBJECTIVES
from app.core.capacity.reading import SECTION_FIELDS
from app.errors import ConflictingFields, Json

_FIELDS = ("base", "axes", "sample", "objective", "constraints", "seed")
_RESOLVED = ("resolved", "snapshot_content_hash", "topics_read", "warnings")


@dataclass(frozen=True, slots=True)
class Sample:
    """So many scenarios of the grid, drawn without replacement."""

    count: int
    seed: int


@dataclass(frozen=True)
class SweepDefinition:
    """A sweep.

    Parameters
    ----------
    base : a scenario's JSON. axes : the last one varies fastest. sample : None for the whole grid.
    objective : of `OBJECTIVES`. constraints : of `CONSTRAINTS`, with their bounds.
    seed : what the scenarios' own seeds come from, where the placement gives none.
    """

    base: Mapping[str, Json]
    axes: tuple[Axis, ...] = ()
    sample: Sample | None = None
    objective: str = "monthly_cost"
    constraints: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def grid_size(self) -> int:
        """How many scenarios the axes span."""
        return prod(len(axis.values) for axis in self.axes)


def read_definition(value: Json) -> SweepDefinition:
    """A sweep's JSON: base, axes, sample, objective, constraints, seed.

    Where the topics of the base are `measured` ones, `resolved` has them; what else was written down of them is for
    people to read.

    `axes` is an object, or a list of `{"path", "values"}` for those who cannot keep an object's order.

    Raises
    ------
    EmptyAxis, ImpossibleValue, ConflictingFields : with paths that begin at the sweep. What is inside of base and
        of the axes' values is asked by `scenarios.require_axes`.
    """
    fields = Fields(value, (), known=(*_FIELDS, *_RESOLVED))
    base = Fields(fields.raw("base"), ("base",), known=(*SECTION_FIELDS, "measured")).all
    sections = {name: section for name, section in base.items() if name != "measured"}
    sections |= Fields(fields.raw("resolved") or {}, ("resolved",), known=("topics",)).all
    objective = fields.text("objective", "monthly_cost")
    if objective not in OBJECTIVES:
        raise impossible(f"an objective is needed, of {', '.join(OBJECTIVES)}", objective, ("objective",))
    bounds = Fields(fields.raw("constraints") or {}, ("constraints",), known=tuple(CONSTRAINTS))
    given = [name for name in CONSTRAINTS if bounds.raw(name) is not None]
    definition = SweepDefinition(
        base=sections,
        axes=_read_axes(fields.raw("axes")),
        sample=_read_sample(fields.raw("sample")),
        objective=objective,
        constraints={name: as_number(bounds.raw(name), bounds.at(name)) for name in given},
        seed=fields.integer("seed", 0, minimum=-(2**63), maximum=2**63 - 1),
    )
    if definition.sample is not None and definition.sample.count > definition.grid_size:
        raise ConflictingFields(
            f"{definition.sample.count} scenarios cannot be drawn from the {definition.grid_size} that the axes span",
            path=("sample", "count"),
            value=definition.sample.count,
            maximum=definition.grid_size,
        )
    return definition


def _read_axes(value: Json) -> tuple[Axis, ...]:
    if value is None or isinstance(value, Mapping):
        return tuple(read_axis(path, values) for path, values in (value or {}).items())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise impossible("an object with a list of values for each axis is needed", value, ("axes",))
    axes = []
    for index, entry in enumerate(value):
        fields = Fields(entry, ("axes", index), known=("path", "values"))
        axes.append(read_axis(fields.text("path"), fields.raw("values")))
        if any(axis.path == axes[-1].path for axis in axes[:-1]):
            raise ConflictingFields(f"axis {axes[-1].path} is given twice", path=fields.at("path"))
    return tuple(axes)


def _read_sample(value: Json) -> Sample | None:
    if value is None:
        return None
    fields = Fields(value, ("sample",), known=("count", "seed"))
    return Sample(
        as_integer(fields.raw("count"), fields.at("count"), minimum=1),
        fields.integer("seed", 0, minimum=-(2**63), maximum=2**63 - 1),
    )


def count(definition: SweepDefinition) -> int:
    """How many scenarios the sweep has."""
    return definition.grid_size if definition.sample is None else definition.sample.count
