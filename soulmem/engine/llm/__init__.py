"""Calls to language models: sources, one call at a time, usage, retries, a test of the model."""
