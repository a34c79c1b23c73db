"""Bodies and queries of HTTP requests: msgspec Structs that validate and describe, one file per resource."""
