"""Kinds of lines: what a line is, by its likeness to example lines."""
