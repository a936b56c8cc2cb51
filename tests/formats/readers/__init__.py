"""Readers of files that `app.formats` only writes, for the tests: each is named for its writer."""
