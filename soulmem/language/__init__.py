"""What a text says, without a model: sentences, words, topics, names, times, feelings, relations."""
