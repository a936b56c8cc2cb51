"""The worker: queue, sweeps and Spark. It shares nothing with the API but the database.

queue.py      takes jobs from the queue and runs them, again where a worker died over one
housekeeping.py  finds the jobs of dead workers, and deletes old rows
plans.py      runs the job of a plan in a slot
attempts.py   how often a job is tried
sweeps.py     scores one chunk of a sweep on Spark; keys.py: a dataset of keys, which datasets.py reads
webhooks.py   delivers events, one attempt at a time
spark.py      the one Spark session of a worker: created when first needed, reused, created anew when it is lost
sources.py    what creates the rows of a job
spark_errors.py  what an error of Spark says, as conditions and parameters
connection.py the JVM behind a session: how it is started, and that it ends with this process
java.py       finds a Java for Spark
processes.py  ends processes together with everything that they started
shipping.py   sends the code of kernels to executors
kernels/      what executors run; like the core, without frameworks
"""
