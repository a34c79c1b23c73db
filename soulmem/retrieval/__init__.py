"""Retrieval: scores, selects and orders memories for a query. Pure functions over arrays."""
