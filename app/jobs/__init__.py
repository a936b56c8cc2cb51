"""The worker: queue, sweeps and Spark. It shares nothing with the API but the database.

queue.py      takes jobs from the queue and runs them, and again if a worker died while it ran one
housekeeping.py  finds the jobs of dead workers, and deletes old rows; limits on the attempts of a job
plans.py      runs the job of a plan in a slot
sweeps.py     scores one chunk of a sweep on Spark; keys.py: a dataset of keys, which datasets.py reads
webhooks.py   delivers events, one attempt at a time
spark.py      the one Spark session of a worker: created when first needed, reused, created anew when it is lost
sources.py    creates the rows of a job
connection.py the JVM behind a session: how it is started, and that it ends with this process
java.py       finds a Java for Spark
processes.py  ends processes together with everything that they started
shipping.py   sends the code of kernels to executors
kernels/      the code that executors run; it uses no framework, as the core
"""
