"""Protocols to the outside, with their promises."""
