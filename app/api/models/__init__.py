"""The models that several resources share.

clusters.py         the cluster of a snapshot request, with its groups, and the warnings of answers
"""
