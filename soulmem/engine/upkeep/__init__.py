"""Quiet work that needs no language model: topics, forgetting, the bin, backups."""
