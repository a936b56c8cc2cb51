"""The process that slots are forked from: state not shared with the service, and its restart."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import psutil
import pytest

from app.slots import pool as pool_module
from app.slots import process, server
from app.slots.admission import Capacity
from app.slots.pool import NO_PROCESS, Pool, Slot, SlotEnded
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

ANSWERS_WITHIN_S = 40.0
MODULE = __name__
PRELOADED = ("app.slots.tied", MODULE)


class Gate:
    """An argument of slots. The start of one waits here, before the server that forks is asked for a process."""

    def __init__(self) -> None:
        self.reached, self.opened = Event(), Event()

    def __reduce__(self) -> tuple[type["Gate"], tuple[()]]:
        self.reached.set()
        assert self.opened.wait(ANSWERS_WITHIN_S)
        return Gate, ()


def report(connection: Connection, _: object = None) -> None:
    """A slot whose answer says where it is."""
    process.run(facts, connection, memory_mib=64)


def facts(head: bytes, _: bytes) -> tuple[dict[str, object], bytes]:
    """A slot's report about itself, or its end by a signal if the head names one."""
    if head:
        os.kill(os.getpid(), int(head))
    files = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.exists()]
    found = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "name": psutil.Process().name(),
        "files": files,
        "terminated_by_default": signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,
    }
    return found, b""


def program() -> None:
    """Print the reports of two slots, before and after the server that forks them is killed."""
    lock = os.open(os.environ["LOCK"], os.O_CREAT | os.O_WRONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    signal.signal(signal.SIGTERM, lambda *_: None)
    ended(asyncio.run(reported()))


def ended(found: object) -> None:
    """Print the result of a program, and end it as the service ends."""
    os.write(1, json.dumps(found).encode() + b"\n")
    server.remove_files()
    os._exit(0)


async def reported() -> list[dict[str, Any]]:
    pool = Pool(report, (), preloaded=PRELOADED, lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
    found = []
    for _ in range(2):
        async with pool.lanes["only"].slot() as slot:
            found.append(await facts_of(slot))
            os.kill(found[-1]["parent"], signal.SIGKILL)
            await asyncio.to_thread(psutil.wait_procs, [psutil.Process(found[-1]["pid"])], ANSWERS_WITHIN_S)
            with pytest.raises(SlotEnded):  # slots end with the process that they were forked from
                await facts_of(slot)
    pool.close()
    return found


def program_of_a_client_that_leaves() -> None:
    """Print the reports of two slots, between which the start of another is cancelled."""
    ended(asyncio.run(reported_around_a_cancelled_start()))


async def reported_around_a_cancelled_start() -> list[dict[str, Any]]:
    gate = Gate()
    pool = Pool(report, (gate,), preloaded=PRELOADED, lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})

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
    os.pipe()  # has the numbers that the request would have closed
    gate.opened.set()
    found.append(await one())
    slots = psutil.Process(found[-1]["parent"]).children()
    _, alive = await asyncio.to_thread(psutil.wait_procs, slots, ANSWERS_WITHIN_S)
    assert not alive
    pool.close()
    return found


def program_without_its_folder() -> None:
    """Print the reports of slots before and after the folder of the server's socket is removed."""
    ended(asyncio.run(reported_around_a_removed_folder()))


async def reported_around_a_removed_folder() -> list[dict[str, Any]]:
    pool = Pool(report, (), preloaded=PRELOADED, lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
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
    ended(asyncio.run(states_without_processes()))


async def states_without_processes() -> list[str]:
    prepared = Event()
    prepared.set()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool_module, "_FORKED_WITHIN_S", 0.2)
        pool = Pool(report, (Unsendable(),), preloaded=PRELOADED, lanes={"only": Capacity(1, 1, ANSWERS_WITHIN_S)})
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
    found, _ = await asyncio.wait_for(slot.call(b"", b""), ANSWERS_WITHIN_S)
    return found


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("slots")
    temporary = folder / ("long" * 25)  # a socket below it would have a path that the system rejects
    temporary.mkdir()
    first, second = printed("program", {"LOCK": str(folder / "lock"), "TMPDIR": str(temporary)})[0]
    return {"first": first, "second": second}


def printed(program: str, environment: Mapping[str, str] = os.environ) -> tuple[Any, str]:
    """The output of a program of this module, as JSON, and its standard error."""
    done = subprocess.run(
        [sys.executable, "-c", f"from {MODULE} import {program}; {program}()"],
        check=False, env={**os.environ, **environment}, cwd=ROOT, capture_output=True, timeout=3 * ANSWERS_WITHIN_S,
    )  # fmt: skip
    errors = done.stderr.decode()
    assert done.returncode == 0, errors
    return orjson.loads(done.stdout.splitlines()[-1]), errors + done.stdout.decode()


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names and descriptors as Linux has them")


@linux
def test_slots_are_forked_from_a_server_process(said: dict[str, Any]) -> None:
    assert said["first"]["name"] == "rackplan-slots"
    assert psutil.Process().pid not in (said["first"]["parent"], said["second"]["parent"])


@linux
def test_a_slot_has_no_file_of_the_service(said: dict[str, Any]) -> None:
    """The lock of a data folder would outlive the service that has it."""
    for slot in said.values():
        assert not [file for file in slot["files"] if file.endswith("/lock")], slot["files"]


def test_a_slot_ends_by_a_signal_that_the_service_handles(said: dict[str, Any]) -> None:
    assert said["first"]["terminated_by_default"]


def test_a_server_that_was_killed_is_started_anew(said: dict[str, Any]) -> None:
    assert said["first"]["parent"] != said["second"]["parent"]


@pytest.mark.long
def test_a_client_that_leaves_while_its_slot_starts() -> None:
    """Its slot got another file of the service as its connection; if there was none, the server that forks ended."""
    (before, after), errors = printed("program_of_a_client_that_leaves")
    assert before["parent"] == after["parent"]
    assert "Traceback" not in errors, errors


@pytest.mark.long
def test_a_server_whose_folder_was_removed_is_started_anew() -> None:
    """As by a cleaner of temporary files: no slot could be started any more, until the service was."""
    (before, after), _ = printed("program_without_its_folder")
    assert before["parent"] != after["parent"]


@pytest.mark.long
def test_a_pool_that_can_start_no_process_says_so_whichever_clients_leave() -> None:
    """`/readyz` was 200 with "0 of 4 processes" as soon as a client had left."""
    states, errors = printed("program_that_can_start_none")
    assert states == [*[NO_PROCESS] * 3, "0 of 1 processes"]
    assert "ConnectionRefusedError('no server')" in errors, "the cause is logged"
