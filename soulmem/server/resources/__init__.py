"""One file a resource: its requests, its answers, its routes."""
