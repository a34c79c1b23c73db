"""Import and export: files of other programs, and bundles, to domain values and back."""
