"""Keeping: what use and rest make of memories and of the ways between them."""
