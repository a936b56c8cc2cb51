"""Rackplan."""
