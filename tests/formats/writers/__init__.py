"""Writers of the texts that `app.formats` reads, for the tests: each is named for its reader."""
