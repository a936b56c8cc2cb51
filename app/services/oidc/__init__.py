"""OpenID Connect: tokens of the operator's issuer, and the sign-in of browsers.

options.py    the settings
issuer.py     the documents and keys that the issuer publishes, and the requests for them
tokens.py     the checks of a token, and the caller that it is about
sign_in.py    the authorization code flow

The library that verifies signatures is imported with the first token. Without the settings this package is not used.
"""
