"""Every failure, by one import.

The core imports the files that it needs: its loops are compiled again when a file changes that they import.
"""

from app.errors.access import *
from app.errors.failure import *
from app.errors.kafka import *
from app.errors.machine import *
from app.errors.quotation import *
from app.errors.reassignments import *
from app.errors.requests import *
