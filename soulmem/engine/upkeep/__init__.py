"""Idle work without a language model: topics, forgetting, the bin, backups."""
