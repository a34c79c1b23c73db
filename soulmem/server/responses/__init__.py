"""Bodies of HTTP responses: msgspec Structs built from the engine's values, one file per resource."""
