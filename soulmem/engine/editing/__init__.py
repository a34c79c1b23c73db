"""Changes by the user, their history and undo."""
