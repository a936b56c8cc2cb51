"""Every failure as an RFC 9457 problem.

documents.py     answers with the documents; models.py: their fields; field_errors.py: the errors of fields
responses.py     the problems of an operation, for the OpenAPI document, by the table failures.json; the status of each
                 category, by problems.json; codes.py: the codes, with their meanings
"""
