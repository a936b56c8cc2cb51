"""`/v1/sweeps`: submitting, following and cancelling sweeps, and their results.

routes.py     submit, list, follow, cancel, clone
scenarios.py  scored scenarios, summaries, the front, the best, a scenario as a plan
documents.py  a sweep, and pages; requests.py the union of all kinds' requests
fields.py     fields that several kinds have: the kind and the axes
capacity.py, consumers.py, draws.py, groups.py, keys.py, reassignment.py : the requests of each kind
"""

from fastapi import APIRouter

from app.api.sweeps import routes, scenarios

router = APIRouter()
router.include_router(routes.router)
router.include_router(scenarios.router)
