"""Sweeps over reassignments of one cluster: a broker removed, brokers added, and what moves.

definition.py  the cluster, the axes, and the change that each scenario makes; JSON ⇄ records
scenario.py    a change as a reassignment problem, its solution, and its figures
"""

from app.core.reassignment.sweep.definition import (
    ADD,
    BrokerChange,
    ReassignmentSweepDefinition,
    SweptBroker,
    SweptCluster,
    added_brokers,
    read_axes,
    read_definition,
    resolved_axes,
    resolved_document,
)
from app.core.reassignment.sweep.scenario import NUMBERS, ReassignmentSweep, read_sweep

__all__ = [
    "ADD",
    "NUMBERS",
    "BrokerChange",
    "ReassignmentSweep",
    "ReassignmentSweepDefinition",
    "SweptBroker",
    "SweptCluster",
    "added_brokers",
    "read_axes",
    "read_definition",
    "read_sweep",
    "resolved_axes",
    "resolved_document",
]
