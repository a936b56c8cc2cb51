"""`/v1/checks`: operation.py, its requests.py and documents.py.

Requests are imported from here: they need no web framework, as the other two do.
"""

from app.api.checks.requests import CheckRequest, run_check
