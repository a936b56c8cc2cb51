"""Writers of what the readers of `app.formats` read, for the tests: each is named for its reader."""
