"""The Python client, against the real service."""
