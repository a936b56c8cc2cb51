"""`/v1/plans/consumers`: plans of consumers over time.

operation.py   the operation that plans
documents.py   its answer

The body is the request of the service.
"""
