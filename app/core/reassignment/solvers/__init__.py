"""Solvers of placements: exact by flows, by local search, and by integer models.

flow/      replicas balanced by count: the least movement, exactly
leaders/   preferred leaders: by count, exactly, or by ingress
search/    local search over several resources, and from the heaviest replicas of one load
exact/     integer models: of small problems, of regions of brokers, of limits that conflict
"""
