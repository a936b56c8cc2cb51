"""Routers of pages."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, params
from starlette.routing import Match
from starlette.types import Scope


class Pages(APIRouter):
    """Pages at a few beginnings of paths. A path of another beginning is compared with none of its routes.

    FastAPI compares a path with the routes of a nested router once for each level, which took half of a page's time.
    Routers that are included have to be of this class, too.
    """

    def __init__(self, *, dependencies: Sequence[params.Depends] = ()) -> None:
        super().__init__(include_in_schema=False, dependencies=dependencies)
        self.first_parts: set[str] = set()

    def add_api_route(self, path: str, *arguments: Any, **options: Any) -> None:
        self.first_parts.add(_first_part(path))
        super().add_api_route(path, *arguments, **options)

    def include_router(self, router: APIRouter, **options: Any) -> None:
        if isinstance(router, Pages):
            self.first_parts |= router.first_parts
        super().include_router(router, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if _first_part(scope["path"]) in self.first_parts else (Match.NONE, {})


def _first_part(path: str) -> str:
    return path.split("/", 2)[1]
