"""What a worker runs. It meets the API only through stored jobs.

queue.py      takes jobs from the queue and runs them, again where a worker died over one
sweeps.py     scores one chunk of a sweep on Spark; keys.py: a dataset of keys, which datasets.py finds
spark.py      the one Spark session of a worker: made when first needed, kept warm, made anew when it is lost
spark_errors.py  what an error of Spark says, as conditions and parameters
connection.py the JVM behind a session: how it is started, and that it ends with this process
java.py       the Java that Spark runs on
shipping.py   how our code gets to executors
kernels/      what executors run; like the core, it knows no framework
"""
