"""What a text says, without a model: its concepts, its names, its times."""
