"""`/v1/checks`: a reassignment of any origin, or a cluster as it is.

operation.py   the operation; its answer
requests.py    its request model

Requests are imported from here, since they need no web framework. The other modules need one.
"""

from app.api.checks.requests import CheckRequest, run_check
