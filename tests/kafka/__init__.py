"""A real Kafka of a release that one chooses, and the project's predictions held to its behaviour.

    jars.py         the artifacts of a release, resolved by Maven and compared with the pinned `checksums/`
    cluster.py      a controller and brokers on loopback, each a process, and Kafka's own tools
    jvm.py          one JVM for many clients and runs of tools, with the classes of `clients/`
    commands.py     Kafka's tools as commands of a shell, executed by that JVM
    membership.py   groups of Kafka's own clients, and predictions of them
    handing.py      from a running cluster to a plan, and from its archive back to the cluster
    kills.py        kills at random while a plan is executed
    vectors.py      the stored vectors, answered by the classes of a release, which `oracle/` asks
    fresh_cases.py  random variants of the stored cases; built_cases.py: cases from scratch
    producers/      clients in C and Go, which send keys

`make test-kafka` runs the tests here (VERSION=4.2.2 for another release, VERSIONS=all for each of them) but the long
ones, which `make test-kafka-long` runs.
"""
