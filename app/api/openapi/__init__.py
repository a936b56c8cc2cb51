"""The OpenAPI document.

document.py          FastAPI's own, completed; the descriptions of fields; response_headers.py: the headers of responses
"""
