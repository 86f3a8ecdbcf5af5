"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), written to be read beside that paper; docstrings name
its sections. Read in this order: config, masks, embedding, attention, layers, model."""
