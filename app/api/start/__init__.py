"""What a service does once it listens.

preparation.py       compiles and loads its loops; whether resources that examples of the documentation name are missing
seeding.py           stores them
"""
