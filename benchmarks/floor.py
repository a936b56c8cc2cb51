"""The floor of `load`: the same framework, driver and pool, with one SELECT by a key, and nothing of Rackplan.

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
    """`GET /plans/{id}`: a row of the table of plans, by its key, as JSON of one field."""
    url = sa.make_url(os.environ["RACKPLAN_DATABASE_URL"]).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, pool_size=8)
    app = FastAPI(openapi_url=None)
    query = sa.text("SELECT hash FROM plans WHERE id = :id")

    @app.get("/plans/{plan_id}")
    def read(plan_id: UUID) -> Response:
        with engine.begin() as connection:
            found = connection.execute(query, {"id": plan_id}).scalar_one()
        return Response(b'{"hash":"%b"}' % found.encode(), media_type="application/json")

    return app


def main(processes: int) -> None:
    """Print the port, then serve until told to stop."""
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
