"""Plans of every kind.

listing.py   `GET /v1/plans`; it needs no kind, so that a service that has just started answers it
stored.py    one plan: read, compare, export, draw, change and delete; the ETags of a plan
"""
