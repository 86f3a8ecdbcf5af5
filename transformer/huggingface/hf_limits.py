"""Limits on models that are opened from a folder. The environment variable `HEADLIGHT_` + the name of a limit sets another
value."""

from transformer.environment import setting, switch

# Megabytes of the weights in memory, with four bytes for each weight. The same limit holds for the files of weights.
MODEL_MEGABYTES = setting("MODEL_MEGABYTES", 2_000)

# Megabytes of each of the other files: the configuration, and the vocabulary of a tokenizer, which is 17 MB for Gemma.
TOKENIZER_MEGABYTES = setting("TOKENIZER_MEGABYTES", 40)

# Tokens of a text. The trace of a model with 12 layers of 12 heads takes about 300 MB for 512 tokens.
MODEL_TOKENS = setting("MODEL_TOKENS", 512)

# Megabytes of the attention weights of all heads for one text. This limits the tokens of a model with many heads: with 32
# layers of 32 heads, 512 tokens take 1,070 MB, and 698 tokens take 2,000 MB.
TRACE_MEGABYTES = setting("TRACE_MEGABYTES", 2_000)

# Tokens with which a decoder alone continues a text.
CONTINUATION_TOKENS = setting("CONTINUATION_TOKENS", 20)

# Most layers of a stack, and the largest value of any other whole number in a configuration.
MODEL_LAYERS, MODEL_NUMBER = setting("MODEL_LAYERS", 128), setting("MODEL_NUMBER", 10_000_000)

# Whether weights in PyTorch's own format are read if a folder has no safetensors. They are pickles, which
# `torch.load(weights_only=True)` reads.
PICKLED_WEIGHTS = switch("PICKLED_WEIGHTS")

# Whether visitors may open models of a hub, which the server then downloads.
HUB = switch("HUB")

# Megabytes of all downloaded models together; the least recently used one is deleted first.
HUB_MEGABYTES = setting("HUB_MEGABYTES", 10_000)

# Number of downloads at a time, and of downloads that may wait.
HUB_DOWNLOADS, HUB_WAITING = setting("HUB_DOWNLOADS", 1), setting("HUB_WAITING", 4)
