"""The files of a stored plan.

readme.py         the order of execution, with commands and checks, by the template README.txt.jinja
kubernetes.py     the batches as ConfigMaps and a Job, job.yaml, which runs run.sh
script.py         run.sh, and the texts that it reads beside the batches
stored_steps.py   the steps of a stored plan, by batch
"""
