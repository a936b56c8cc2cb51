"""Sweeps: their list, and the page of one with its progress, charts and scenarios.

pages.py    `/sweeps` and `/sweeps/{id}`, with the actions of forms there: cancel, open a scenario as a plan
files.py    scenarios as CSV, Parquet or Arrow, and the definition as JSON
view.py     the state of a sweep's page, from its address
comparison.py  `/sweeps/compare`: two sweeps side by side
plots.py    the charts: two figures against each other, a figure over two axes, its distribution, the first limit
"""
