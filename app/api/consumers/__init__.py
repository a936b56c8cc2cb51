"""`/v1/plans/consumers`: plans of consumers over time.

operation.py   the operation that plans; its answer

The body is the request of the service.
"""
