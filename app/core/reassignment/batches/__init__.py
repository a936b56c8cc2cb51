"""A reassignment cut into batches that Kafka executes one after another, within limits on every broker at every time.

model.py            what is cut, the limits, and the batches
cutting.py          cut it: steps, packed into batches, counted
steps.py            the steps of each partition, over steps_kernel.py
packing.py          which step goes into which batch, over packing_kernel.py
bounds.py           no schedule of these steps has fewer batches
figures.py          what each batch moves, and how long that takes
violations.py       the verifier: every promise that batches break, anyone's, over replay.py
"""
