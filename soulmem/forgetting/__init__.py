"""What fades, and what is forgotten: pure functions of what was met, when, and how often it was used."""
