"""The process that slots are forked from: what they share with the service, and what they must not."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest

from app.slots import pool as pool_module
from app.slots import server
from app.slots.admission import Capacity
from app.slots.parent import tie_to_parent
from app.slots.pool import NO_PROCESS, Pool, Slot
from tests import forked

pytestmark = pytest.mark.slow

ANSWERS_WITHIN_S = 40.0
MODULE = __name__
MARKED = "RACKPLAN_TEST_FORK_SHARES"
SHARED: list[int] = []
"""Has an item in the service, which no import would give it."""


class Gate:
    """An argument of slots. The start of one waits here, before the server that forks is asked for a process."""

    def __init__(self) -> None:
        self.reached, self.opened = Event(), Event()

    def __reduce__(self) -> tuple[type["Gate"], tuple[()]]:
        self.reached.set()
        assert self.opened.wait(ANSWERS_WITHIN_S)
        return Gate, ()


def report(connection: socket.socket, _: object = None) -> None:
    """A slot that says what it shares, and ends when its connection does."""
    tie_to_parent()
    with closing(connection):
        facts = {
            "shares": bool(SHARED),
            "has_mark": MARKED in os.environ,
            "parent": os.getppid(),
            "name": psutil.Process().name(),
            "files": [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.exists()],
            "terminated_by_default": signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,
        }
        with suppress(BrokenPipeError):  # nothing waits for it
            connection.sendall(json.dumps(facts).encode() + b"\n")
            connection.recv(1)


def program() -> None:
    """Fork the server of slots as a service does; print what two slots say, before and after it is killed."""
    lock = os.open(os.environ["LOCK"], os.O_CREAT | os.O_WRONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    signal.signal(signal.SIGTERM, lambda *_: None)
    SHARED.append(1)
    server.fork((MODULE,))
    os.environ[MARKED] = "no"  # after the fork: it is not shared
    found = asyncio.run(reported())
    os.write(1, json.dumps({"service": os.getpid(), "slots": found}).encode() + b"\n")
    os._exit(0)


async def reported() -> list[dict[str, Any]]:
    pool = Pool(report, (), preloaded=(MODULE,), lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
    found = []
    for _ in range(2):
        async with pool.lanes["only"].slot() as slot:
            found.append(await facts_of(slot))
            os.kill(found[-1]["parent"], signal.SIGKILL)
            assert await asyncio.wait_for(slot.reader.read(), ANSWERS_WITHIN_S) == b"", (
                "slots end with the process that they were forked from"
            )
            slot.stop()
    pool.close()
    return found


def program_of_a_client_that_leaves() -> None:
    """Fork the server of slots; print what two slots say, between which the start of another is cancelled."""
    server.fork((MODULE,))
    os.write(1, json.dumps(asyncio.run(reported_around_a_cancelled_start())).encode() + b"\n")
    os._exit(0)


async def reported_around_a_cancelled_start() -> list[dict[str, Any]]:
    gate = Gate()
    pool = Pool(report, (gate,), preloaded=(MODULE,), lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})

    async def one() -> dict[str, Any]:
        async with pool.lanes["only"].slot() as slot:
            facts = await facts_of(slot)
            slot.stop()
        return facts

    gate.opened.set()
    found = [await one()]
    gate.reached.clear()
    gate.opened.clear()
    leaving = asyncio.create_task(one())
    assert await asyncio.to_thread(gate.reached.wait, ANSWERS_WITHIN_S)
    leaving.cancel()
    await asyncio.wait({leaving})
    os.pipe()  # has the numbers of what the request would have closed
    gate.opened.set()
    found.append(await one())
    slots = psutil.Process(found[-1]["parent"]).children()
    _, alive = await asyncio.to_thread(psutil.wait_procs, slots, ANSWERS_WITHIN_S)
    assert not alive
    pool.close()
    return found


def program_without_its_folder() -> None:
    """Fork the server of slots; print what slots say before and after the folder of its socket is removed."""
    server.fork((MODULE,))
    os.write(1, json.dumps(asyncio.run(reported_around_a_removed_folder())).encode() + b"\n")
    os._exit(0)


async def reported_around_a_removed_folder() -> list[dict[str, Any]]:
    pool = Pool(report, (), preloaded=(MODULE,), lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
    found = []
    for _ in range(2):
        async with pool.lanes["only"].slot() as slot:
            found.append(await facts_of(slot))
            slot.stop()
        shutil.rmtree(server.scratch().path)
    pool.close()
    return found


def program_that_can_start_none() -> None:
    """Print the states of a pool whose processes cannot be started, around requests that do not wait for one."""
    os.write(1, json.dumps(asyncio.run(states_without_processes())).encode() + b"\n")
    os._exit(0)


async def states_without_processes() -> list[str]:
    prepared = Event()
    prepared.set()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool_module, "_FORKED_WITHIN_S", 0.2)
        pool = Pool(report, (Unsendable(),), preloaded=(MODULE,), lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
        pool.start(prepared)
        states = []
        for _ in range(3):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05), pool.lanes["only"].slot():
                    pass
            await asyncio.sleep(1)
            states.append(pool.state)
        Unsendable.is_sendable = True
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            while pool.state == NO_PROCESS:
                await asyncio.sleep(0.05)
        states.append(pool.state)
        pool.close()
    return states


class Unsendable:
    """An argument with which no process can be started at first, as if the server was not there."""

    is_sendable = False

    def __reduce__(self) -> tuple[type["Unsendable"], tuple[()]]:
        if not self.is_sendable:
            raise ConnectionRefusedError("no server")
        return Unsendable, ()


async def facts_of(slot: Slot) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(await asyncio.wait_for(slot.reader.readline(), ANSWERS_WITHIN_S))
    return facts


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("slots")
    temporary = folder / ("long" * 25)  # a socket below it would have a path that the system rejects
    temporary.mkdir()
    environment = {**os.environ, "LOCK": str(folder / "lock"), "TMPDIR": str(temporary)}
    found: dict[str, Any] = printed("program", environment, folder / "out")
    return found


def printed(program: str, environment: Mapping[str, str], out: Path) -> Any:
    """What a program of this module prints, as JSON."""
    process = forked.start(f"from {MODULE} import {program}; {program}()", environment=environment, out=out)
    try:
        assert process.wait(3 * ANSWERS_WITHIN_S) == 0, out.read_text()
    finally:
        process.kill()
    return json.loads(out.read_text().splitlines()[-1])


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names and descriptors as Linux has them")


@linux
def test_slots_are_forked_from_a_fork_of_the_service(said: dict[str, Any]) -> None:
    first, second = said["slots"]
    assert first["shares"]
    assert first["name"] == "rackplan-slots"
    assert not first["has_mark"]
    assert first["parent"] not in (said["service"], second["parent"])


@linux
def test_a_slot_has_no_file_of_the_service(said: dict[str, Any]) -> None:
    """The lock of a data folder would outlive the service that has it."""
    for slot in said["slots"]:
        assert not [file for file in slot["files"] if file.endswith("/lock")], slot["files"]


def test_a_slot_ends_by_a_signal_that_the_service_handles(said: dict[str, Any]) -> None:
    assert said["slots"][0]["terminated_by_default"]


@linux
def test_a_server_that_was_killed_is_started_anew(said: dict[str, Any]) -> None:
    """By `multiprocessing`: it has the environment of its start, and imports what the slots need."""
    _, second = said["slots"]
    assert second["has_mark"]
    assert not second["shares"]


def test_a_client_that_leaves_while_its_slot_starts(tmp_path: Path) -> None:
    """Its slot got another file of the service as its connection; if there was none, the server that forks ended."""
    out = tmp_path / "out"
    before, after = printed("program_of_a_client_that_leaves", os.environ, out)
    assert before["parent"] == after["parent"]
    assert "Traceback" not in out.read_text(), out.read_text()


def test_a_server_whose_folder_was_removed_is_started_anew(tmp_path: Path) -> None:
    """As by a cleaner of temporary files: no slot could be started any more, until the service was."""
    before, after = printed("program_without_its_folder", os.environ, tmp_path / "out")
    assert before["parent"] != after["parent"]


def test_a_pool_that_can_start_no_process_says_so_whichever_clients_leave(tmp_path: Path) -> None:
    """`/readyz` was 200 with "0 of 4 processes" as soon as a client had left."""
    out = tmp_path / "out"
    assert printed("program_that_can_start_none", os.environ, out) == [*[NO_PROCESS] * 3, "0 of 1 processes"]
    assert "ConnectionRefusedError('no server')" in out.read_text(), "the cause is logged"
