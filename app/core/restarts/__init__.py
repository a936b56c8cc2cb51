"""Restart waves: brokers that are restarted together, in the fewest waves that keep partitions writable, and the proof.

model.py      the problem, the waves and the bounds that prove their number; who leads instead of the brokers of a
              wave, and whether limits hold
waves.py      the verb `restart_waves`; brokers to waves, one after another, and again in better orders; an integer
              model of one wave fewer; lower bounds that a person can check; which brokers may not be in one wave, and
              the parts that never share one
outcomes.py   what each wave of a schedule does to partitions and brokers; violations of a schedule, whichever solver
              made it
"""

from app.core.restarts.model import RestartProblem, RestartWaves, WaveBound
from app.core.restarts.outcomes import outcomes_of, wave_violations
from app.core.restarts.waves import restart_waves
