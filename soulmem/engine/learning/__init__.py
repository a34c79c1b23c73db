"""Changes by use: recall records, edge strengths, working memory and the user's feedback."""
