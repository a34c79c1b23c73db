"""Turns chats and souls as the client shows them into stored messages and memories."""
