"""Functions that block are called in threads, or in place if the request has the event loop to itself."""

import asyncio
import threading
from multiprocessing import Pipe
from threading import Thread

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from hypothesis import example, given
from hypothesis import strategies as st

from app.slots.in_place import IS_ALONE, BlockingRoute
from app.slots.process import BUFFERED_BYTES, receive, send


@pytest.fixture
def app() -> FastAPI:
    router = APIRouter(route_class=BlockingRoute)

    @router.get("/plain/{number}")
    def plain(number: int, more: int = 1) -> dict[str, object]:
        """Has a documentation."""
        return {"thread": threading.get_ident(), "sum": number + more}

    @router.get("/asynchronous")
    async def asynchronous() -> int:
        return threading.get_ident()

    app = FastAPI()
    app.include_router(router)
    return app


@pytest.mark.parametrize("is_alone", [True, False])
def test_the_thread_of_an_endpoint(app: FastAPI, is_alone: bool) -> None:
    async def answers() -> tuple[httpx.Response, httpx.Response]:
        IS_ALONE.set(is_alone)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            return await client.get("/plain/2", params={"more": 3}), await client.get("/asynchronous")

    plain, asynchronous = asyncio.run(answers())
    assert plain.json()["sum"] == 5
    assert (plain.json()["thread"] == threading.get_ident()) is is_alone
    assert asynchronous.json() == threading.get_ident()


def test_the_document_of_an_endpoint(app: FastAPI) -> None:
    operation = app.openapi()["paths"]["/plain/{number}"]["get"]
    assert operation["description"] == "Has a documentation."
    assert [parameter["name"] for parameter in operation["parameters"]] == ["number", "more"]


@given(
    head=st.binary(max_size=40),
    body=st.binary(max_size=40) | st.sampled_from([BUFFERED_BYTES, BUFFERED_BYTES + 1, 3_000_000]).map(bytes),
)
@example(head=b"\n\n", body=b"\n")
@example(head=b"", body=b"")
def test_what_is_sent_is_received(head: bytes, body: bytes) -> None:
    """A head is any bytes: that of a job is its id."""
    ours, theirs = Pipe()
    with ours, theirs:
        sending = Thread(target=send, args=(ours, head, body))
        sending.start()
        assert receive(theirs) == (head, body)
        sending.join()
