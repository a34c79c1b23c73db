"""Read-only answers computed from one loaded mind."""
