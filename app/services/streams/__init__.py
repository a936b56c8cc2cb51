"""Plan a Kafka Streams application: where active, standby and warm-up tasks land, and what each loss costs.

planning.py      the use case: check, assign, verify, keep
requests.py      what is asked, as plain records that a job keeps and a plan is hashed by
clients.py       a client by its fields, or by what it says in its subscription
subtopologies.py what tasks read and restore, as listed or as the library prints it
sources.py       from those to what an assignor works on, and what is doubtful about it
reports.py       what is said of an assignment, as JSON
events.py        what happens to the application, and what came of each event
optimum.py       how much better standbys could be, and which clients would make the ideal possible
kept.py          what a kept plan is of: its tasks and who has them
differences.py   what two plans do differently
exports.py       a plan as a file
"""
