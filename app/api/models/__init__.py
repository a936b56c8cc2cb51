"""The models that several resources share.

clusters.py         the cluster of a snapshot request; recorded_groups.py: its groups
warnings.py         the warnings of answers
"""
