"""The OpenAPI document.

document.py          FastAPI's own, completed; the descriptions of fields; description.md: its introduction
response_headers.py  the headers of responses, which response_headers.json lists
"""
