"""The Transformer, written to be read beside the paper: config, masks, embedding, attention, layers, model."""
