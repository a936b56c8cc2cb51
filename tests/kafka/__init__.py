"""A real Kafka of a release that one chooses, and what the project says of it held to what it does.

    jars.py      the artifacts of a release, resolved by Maven and compared with pinned checksums
    machine.py   what the machine lacks for them
    cluster.py   controllers and brokers on loopback, each a process, and Kafka's own tools
    checksums/   of each release

`make test-kafka` runs the tests here (VERSION=4.2.2 for another release, VERSIONS=all for each of them).
"""
