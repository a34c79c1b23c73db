"""Rules of the user's control: audit values, protection of memories, retention in the bin, undo."""
