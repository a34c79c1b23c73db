"""By which rules does the user stay sovereign? What is told of a change, what protects, what is undone."""
