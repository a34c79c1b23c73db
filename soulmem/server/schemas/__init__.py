"""What may be asked over HTTP: msgspec Structs that validate and describe, one file per resource."""
