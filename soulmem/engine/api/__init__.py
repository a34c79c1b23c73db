"""Values that callers send to the engine and get back: requests and results."""
