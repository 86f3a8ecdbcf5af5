"""Limits on models that are opened from a folder; the environment variable `HEADLIGHT_` + the name replaces each."""

from transformer.environment import setting, switch

# Megabytes of the weights in memory, four bytes each, and the same of the files.
MODEL_MEGABYTES = setting("MODEL_MEGABYTES", 2_000)

# Megabytes of each of the other files: the configuration, and the vocabulary of a tokenizer, which is 17 MB for Gemma.
TOKENIZER_MEGABYTES = setting("TOKENIZER_MEGABYTES", 40)

# Tokens of a text. The trace of a model with 12 layers of 12 heads takes about 300 MB at 512.
MODEL_TOKENS = setting("MODEL_TOKENS", 512)

# Megabytes of the attention weights of one text, of all heads. It limits the tokens of a model with many heads: with 32 layers
# of 32 heads, 512 tokens take 1,070 MB, and 698 take 2,000.
TRACE_MEGABYTES = setting("TRACE_MEGABYTES", 2_000)

# Tokens that a decoder alone writes on from a text.
CONTINUATION_TOKENS = setting("CONTINUATION_TOKENS", 20)

# Layers of a stack, and any other whole number in a configuration.
MODEL_LAYERS, MODEL_NUMBER = setting("MODEL_LAYERS", 128), setting("MODEL_NUMBER", 10_000_000)

# Whether weights in PyTorch's own format are read where a folder has no safetensors: a pickle, read by
# `torch.load(weights_only=True)`.
PICKLED_WEIGHTS = switch("PICKLED_WEIGHTS")

# Whether visitors may open models of a hub, which the server then downloads.
HUB = switch("HUB")

# Megabytes of all models that were downloaded; the one that was not used for longest is deleted first.
HUB_MEGABYTES = setting("HUB_MEGABYTES", 10_000)

# Downloads at a time, and how many others may wait for them.
HUB_DOWNLOADS, HUB_WAITING = setting("HUB_DOWNLOADS", 1), setting("HUB_WAITING", 4)
