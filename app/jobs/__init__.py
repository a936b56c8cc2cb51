"""What a worker runs. It meets the API only through stored jobs.

queue.py   takes jobs from the queue and runs them, again where a worker died over one
"""
