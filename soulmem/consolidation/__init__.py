"""Consolidation: how use, feedback and rest change memories and edges. Pure functions."""
