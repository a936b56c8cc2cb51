"""`/v1/plans/restart`: plans of restarts.

operation.py   the operation that plans
documents.py   its answer

The body is the request of the service.
"""
