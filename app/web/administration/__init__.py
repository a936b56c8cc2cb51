"""Pages for administrators.

keys.py      `/keys`: API keys, and revoking share links
webhooks.py  `/webhooks`: webhooks, their test and their deliveries, which are sent again
audit.py     `/audit`: the audit log
"""
