"""The floor of `load`: the same framework, driver and pool, with one SELECT by a key, and nothing of Rackplan.

Beside it, that of a durable change: one INSERT of a row of 2 KB and its commit, in a table of its own.

`python -m benchmarks.floor` serves it on a free loopback port that it prints, in as many processes as it is told.
"""

import os
import socket
import sys
from uuid import UUID

import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI, Response


def create_app() -> FastAPI:
    """`GET /plans/{id}`: a row of the table of plans, by its key, as JSON of one field. `GET /inserted`: a new row."""
    engine = _engine(8)
    app = FastAPI(openapi_url=None)
    query = sa.text("SELECT hash FROM plans WHERE id = :id")

    @app.get("/plans/{plan_id}")
    def read(plan_id: UUID) -> Response:
        with engine.begin() as connection:
            found = connection.execute(query, {"id": plan_id}).scalar_one()
        return Response(b'{"hash":"%b"}' % found.encode(), media_type="application/json")

    @app.get("/inserted")
    def insert() -> Response:
        with engine.begin() as connection:
            connection.execute(_INSERT, {"content": "x" * 2_000})
        return Response(b"{}", 201, media_type="application/json")

    return app


_CREATE = sa.text("CREATE TABLE floor_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)")
_INSERT = sa.text("INSERT INTO floor_rows (content) VALUES (:content)")


def _engine(connections: int) -> sa.Engine:
    url = sa.make_url(os.environ["RACKPLAN_DATABASE_URL"]).set(drivername="postgresql+psycopg")
    return sa.create_engine(url, pool_size=connections)


def main(processes: int) -> None:
    """Print the port, then serve until told to stop."""
    once = _engine(1)
    with once.begin() as connection:
        connection.execute(_CREATE)
    once.dispose()  # before the fork, which would share the connection
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    listening.set_inheritable(True)
    print(listening.getsockname()[1], flush=True)
    for _ in range(processes - 1):
        if os.fork() == 0:
            break
    config = uvicorn.Config(create_app(), log_config=None, access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(int(sys.argv[1]))
