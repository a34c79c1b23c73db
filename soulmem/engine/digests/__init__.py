"""Digests of days, weeks, months, years and chats, and highlights of streams."""
