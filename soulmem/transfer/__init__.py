"""Carrying over: text from other programs to domain values and back."""
