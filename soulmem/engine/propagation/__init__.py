"""What follows from a changed text or name: mentions, learned names, retracted drafts."""
