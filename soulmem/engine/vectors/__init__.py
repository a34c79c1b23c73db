"""From texts to vectors: model sources, the background embedder, the situation encoder."""
