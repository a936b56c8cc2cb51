"""`/plans/{id}`: the page of a plan.

page.py          the page of a plan of any kind, its status, and its picture as a file
view.py          differences between kinds; replicas.py, reassignment.py, groups.py, streams.py and
                 restarts.py, consumers.py implement it
comparison.py    `/plans/compare`: two plans side by side, by their figures and requests
execution.py     the progress of a reassignment at a later snapshot, chosen or pasted; the brokers of a reassignment
                 after each batch
selection.py     the changes of one broker, rack or topic; distinctions of plans with the same title; labels as
                 people type them
files.py         the files of a plan as parts of its page, which a share link opens
against.py       the differences of a plan of replicas from a snapshot
"""
