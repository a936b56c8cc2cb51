"""Predict a Kafka Streams application.

requests.py        the request records
sources.py         from a request to the input of an assignor
threads.py         a client by its fields or by its subscription; the members of a streams group, which are the threads
                   of clients; tasks by their names
subtopologies.py   partitions that the tasks of each subtopology read and restore
recorded.py        a Streams group of a snapshot as clients and tasks
planning.py        the problem, the planner; the title and summary in lists; warnings about ignored input and
                   assumptions
events.py          events from the request to the core, and their steps
optimum.py         the distance to the best standbys, the least cross-rack traffic, the smallest addition; a streams
                   group beside the classic protocol: tasks whose copies are all in one zone
answers.py         the answer: its declaration
reports.py         the assignment as its parts
rows.py            the clients that have each task, as the plan's rows
differences.py     tasks that pass from one client to another
exports.py         the plan as a file
"""

from app.services.plans import Kind
from app.services.streams.differences import difference
from app.services.streams.exports import EXPORTS
from app.services.streams.planning import KIND, PLANNER
from app.services.streams.requests import StreamsRequest

PLAN_KIND = Kind(
    planner=PLANNER, difference=difference, exports=EXPORTS, content="the clients of tasks, and moves no replica"
)
