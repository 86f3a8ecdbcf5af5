"""Small models of a known mechanism, which tests train: each recipe writes a folder as a model hub gives it."""
