"""Words for past times, and the spans of time that they mean."""
