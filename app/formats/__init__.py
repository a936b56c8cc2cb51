"""Kafka's own texts and bytes ⇄ the core's model. One format a file, which reads it and writes it.

    kafka_files/  the files that Kafka's tools take: reassignments, assignments, elections; and a script of them
    snapshots/    a text of anything, or several texts, as one cluster; the canonical document of a snapshot
    sources/      output of other tools: kcat, rpk, Strimzi, Cruise Control, …
    groups/       consumer, share and streams groups: what the tools print, what members send
    streams/      Kafka Streams: what clients send, topologies
    tables/       plans and scenarios as CSV, Markdown, Arrow and Parquet
    clusters/     brokers, topics and log directories: what the tools print, what brokers register and answer
    syntax/       lines, JSON, YAML, bytes and numbers, for all of the above
    decoding.py   bytes of any wire format, as JSON

Imports point down this list. Every reader raises `MalformedText` for a text that it cannot read: the line or byte, what
was expected and what was found.
"""
