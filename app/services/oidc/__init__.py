"""OpenID Connect: tokens of the operator's issuer, and the sign-in of browsers.

`options` has the settings, `issuer` the documents and keys that the issuer publishes, `tokens` the checks of a token,
`claims` the caller that a token is about, `sign_in` the authorization code flow. The library that verifies signatures
is imported with the first token; without the settings nothing here is used.
"""
