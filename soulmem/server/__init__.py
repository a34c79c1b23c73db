"""The HTTP door: one file per resource, each handler one engine call."""
