"""Every failure as an RFC 9457 problem.

documents.py     the documents; field_errors.py: the errors of fields
statuses.py      the status of each category; codes.py: the codes, with their meanings
"""
