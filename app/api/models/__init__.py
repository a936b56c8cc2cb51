"""The models that several resources share.

clusters.py         the cluster of a snapshot request; recorded_groups.py: its groups; the warnings of answers
"""
