"""Work of a service once it listens.

preparation.py       compiles and loads its loops
seeding.py           stores the resources that examples of the documentation name, if a setting asks for them
"""
