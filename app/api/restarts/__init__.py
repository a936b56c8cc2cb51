"""`/v1/plans/restart`: plans of restarts.

operation.py   the operation that plans; its answer

The body is the request of the service.
"""
