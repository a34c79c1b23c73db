"""Implementations of the ports; each module wraps one outside library or one kind of file."""
