"""Every group of a cluster × assignor × members lost or added, as the scenarios of a sweep.

estate.py    the groups, what is tried on each, and which of it scenario i is
members.py   who is lost, and who joins
scoring.py   scenarios start … stop − 1: what an executor runs
documents.py an estate ⇄ the JSON that is kept with a sweep
"""
