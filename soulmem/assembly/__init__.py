"""The prompt text made of recalled memories: budget, sections, and the reason for each memory."""
