"""`/v1/sweeps`: submitting, following and cancelling sweeps, and their results.

routes.py     submit, list, follow, cancel, clone
scenarios.py  scored scenarios, summaries, the front, the best, a scenario as a plan
documents.py  answers; requests.py the requests of the other kinds, and their union
fields.py     fields that several kinds have: the kind and the axes
capacity.py   the request of a capacity sweep
"""

from fastapi import APIRouter

from app.api.sweeps import routes, scenarios

router = APIRouter()
router.include_router(routes.router)
router.include_router(scenarios.router)
