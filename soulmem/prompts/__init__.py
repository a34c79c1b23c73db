"""What a language model is asked, and how its answer is read: one file per prompt."""
