"""How much of `app` one request enters: `python -m tests.entered` prints files, functions and calls by kind of plan.

Each request is sent twice; the second one is counted, so that imports and caches of the first are not. Counted are the
files of `app` of which some function is called, in any thread of the service; slots are threads here.
"""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import httpx

from app.store import embedded, migrations
from app.store.database import Database
from tests import databases
from tests.service import client_of, served

APP = str(Path(__file__).parents[1] / "app")


class Calls:
    """Counts the calls of functions of `app` while it is switched on."""

    def __init__(self) -> None:
        self.is_on = False
        self.of: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """The function for `threading.setprofile`."""
        if self.is_on and event == "call" and frame.f_code.co_filename.startswith(APP):
            self.of[frame.f_code] += 1

    def summary(self) -> str:
        """Files, functions and calls, and the files of each room."""
        files = {code.co_filename for code in self.of}
        rooms = Counter(Path(file).relative_to(APP).parts[0] for file in files)
        by_room = ", ".join(f"{room} {count}" for room, count in sorted(rooms.items()))
        return f"{len(files):4} files {len(self.of):5} functions {self.of.total():6} calls ({by_room})"


def requests(client: httpx.Client) -> Iterator[tuple[str, dict[str, object]]]:
    """The path of each kind of plan, and the first example of its body in the OpenAPI document."""
    paths = client.get("/openapi.json").raise_for_status().json()["paths"]
    for path in ("/v1/plans/replicas", "/v1/plans/reassignment", "/v1/plans/group", "/v1/plans/streams"):
        examples = paths[path]["post"]["requestBody"]["content"]["application/json"]["examples"]
        yield path, next(iter(examples.values()))["value"]


@contextmanager
def service() -> Iterator[httpx.Client]:
    """A service over a Postgres of its own, with the examples."""
    with (
        databases.folder_of_postgres() as folder,
        embedded.running(folder / "data", shelter=folder / "shelter") as server,
        Database(server.url) as database,
    ):
        migrations.upgrade(database.engine)
        with served(database) as address, client_of(address) as client:
            yield client


def main() -> None:
    """Print a line for each kind of plan."""
    calls = Calls()
    threading.setprofile(calls)
    sys.setprofile(None)
    with service() as client:
        for path, body in requests(client):
            for number in range(2):
                calls.of.clear()
                calls.is_on = True
                answer = client.post(path, json={**body, "labels": {"number": str(number)}})
                calls.is_on = False
                answer.raise_for_status()
            print(f"{path:24} {calls.summary()}")  # noqa: T201 -- the command's purpose


if __name__ == "__main__":
    main()
