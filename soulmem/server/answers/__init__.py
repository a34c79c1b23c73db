"""What is answered over HTTP: msgspec Structs built from the engine's values, one file per resource."""
