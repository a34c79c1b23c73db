"""The text the role-play model sees: budget, sections, and a why for each memory."""
