"""Sweeps over scenarios of any kind: axes, grid indices, sampling and the scoring loop. No kind of sweep is known here.

    axes.py      an axis and its values; `Grid`, which maps an index to one value of each axis and back; the k-th of n
                 grid indices sampled without replacement, in constant memory; seeds of scenarios
    fields.py    reads and validates JSON objects as records, with the path of an invalid value
    scoring.py   the protocol that a kind implements, and the loop that scores a range of its scenarios

A kind is `app/core/<package>/sweep.py`; to add one, see docs/extending.md.
"""

from app.core.sweeps.axes import Axis, Grid, Span, read_axis
from app.core.sweeps.scoring import UNEXPECTED, ReadSweep, ScenarioRow, SweepScenarios, score
