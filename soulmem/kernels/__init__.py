"""Number work on the memory graph: walks with a certified error, without any knowledge of memories."""
