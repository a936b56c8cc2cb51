"""Sweeps: their list, and the page of one with its progress, charts and scenarios.

pages.py    `/sweeps` and `/sweeps/{id}`, with what a form there does: cancel, open a scenario as a plan
files.py    scenarios as CSV, Parquet or Arrow, and the definition as JSON
view.py     what a sweep's page shows, as its address says
comparison.py  `/sweeps/compare`: two sweeps side by side
plots.py    the charts: two figures against each other, a figure over two axes, its distribution, the first limit
"""
