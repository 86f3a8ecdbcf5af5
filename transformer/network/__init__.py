"""The Transformer, readable beside the paper: config, modules, masks, embedding, attention, layers, model."""
