"""The loaded part of the long-term graph: ids to rows, vectors by row, and what each chat reaches."""
