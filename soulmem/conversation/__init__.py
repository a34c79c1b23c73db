"""The chat as it happened: what a sync changes, and which messages become memories."""
