"""From chat to lasting memory with a language model, in Idle or on request."""
