"""Chats and souls as the client shows them become stored messages and memories."""
