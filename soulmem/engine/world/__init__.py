"""All souls and chats of one owner, kept equal to the store, with the writing lock and the audit."""
