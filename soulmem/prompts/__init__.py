"""Prompts for language models, and the parsing of their answers: one file per prompt."""
