"""Restart waves: brokers that are restarted together, in the fewest waves that keep partitions writable, and the proof.

model.py      the problem, the waves and the bounds that prove their number
conflicts.py  which brokers may not be in one wave, and the parts that never share one
coloring.py   brokers to waves, one after another, and again in better orders
bounds.py     lower bounds that a person can check
exact.py      an integer model of one wave fewer
election.py   who leads instead of the brokers of a wave, and whether limits hold
waves.py      the verb `restart_waves`
outcomes.py   what each wave of a schedule does to partitions and brokers
verifier.py   violations of a schedule, whichever solver made it
"""

from app.core.restarts.model import RestartProblem, RestartWaves, WaveBound
from app.core.restarts.outcomes import outcomes_of
from app.core.restarts.verifier import wave_violations
from app.core.restarts.waves import restart_waves
