"""Tools that language models may call."""
