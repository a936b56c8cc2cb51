"""Shared code of readers and writers.

lines.py            texts, and `MalformedText` at a line; split_text.py: several texts in one
prefixes.py         texts that other programs put around every line; characters.py: characters that they change
quantities.py       counts and bytes in words
documents.py        JSON; unique_json.py rejects repeated members; yaml_documents.py: YAML
printed_objects.py  objects as Node.js and Python print them; printed_records.py: as Java's clients do
loose_objects.py    objects whose keys count without case, `_` and `-`; odd_names.py: names in which a sign was replaced
byte_reader.py      numbers in bytes, for the readers of the following
wire.py             bytes; wire_formats.py: the names of their formats; Base64, hexadecimal and raw bytes
generated_bytes.py  bytes, as lenient as Kafka's own readers; data_streams.py: Java's
garbage.py          reading long texts without collections of garbage
row_text.py         many rows of a text at once
"""
