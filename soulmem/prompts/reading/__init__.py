"""From the raw answer of a language model to its fields: unwrapping, lenient JSON, line form."""
