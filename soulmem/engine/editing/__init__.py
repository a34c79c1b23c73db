"""Changes by the user's own hand, their history and undo."""
