"""What use changes: records of recalls, edge strengths, working memory, the user's feedback."""
