"""Ports made real, one outside library each."""
