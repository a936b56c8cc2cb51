"""Texts as one cluster.

pasted.py         several outputs of tools in one text; unrecognized.py: what a text without any looks like
assembly.py       a cluster from those, and from the description of its groups
plain_names.py    names without control characters, of all texts
snapshot_json.py  a cluster as the canonical document that is stored and hashed
snapshot_columns.py  the same as arrays, which are read sooner
"""
