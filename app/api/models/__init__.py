"""The models that several resources share.

fields.py           the scalar fields of requests
clusters.py         the cluster of a snapshot request; recorded_groups.py: its groups
warnings.py         the warnings of answers
snapshot_choice.py  the snapshot that a request is about
"""
