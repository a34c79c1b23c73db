"""The HTTP server: one file per resource; each handler makes one engine call."""
