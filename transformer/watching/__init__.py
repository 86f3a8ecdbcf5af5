"""Look into any `torch.nn.Module`: its tensors and attentions (`watch`), and where it differs from our network, `Transformer`
(`compare`)."""
