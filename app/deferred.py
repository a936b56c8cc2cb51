"""Registries whose values are imported when one is first read.

A module that only names registered values starts fast: a service that lists kinds of plans imports no planner. A test
resolves every reference and holds it to the same layers as an import.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock
from typing import TypeVar

T_co = TypeVar("T_co", covariant=True)

IMPORTING = RLock()
"""Held by a thread that imports modules of the application while other threads may do so, too.

Two threads that import modules of one package can wait for each other, since the package imports its modules and these
need the package. Python then gives one of them a module of which nothing but the beginning has run.
"""


class Registry(Mapping[str, T_co]):
    """A mapping from names to attributes of modules: `Registry[Kind]({"group": "app.services.groups:PLAN_KIND"})`.

    To read a value imports its module; names, their order and their number take no import.
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        self.references = dict(references)

    def __getitem__(self, name: str) -> T_co:
        module, _, attribute = self.references[name].partition(":")
        with IMPORTING:
            value: T_co = getattr(import_module(module), attribute)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self.references

    def __iter__(self) -> Iterator[str]:
        return iter(self.references)

    def __len__(self) -> int:
        return len(self.references)
