"""The loaded memory of one soul: rows, texts, names, edges and what a chat may see of them."""
