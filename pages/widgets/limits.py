"""Every limit of the app, in one place."""

# Bytes of traces kept for all sessions together; the least recently used goes first. A trace of a shipped model takes
# 1 to 5 MB, one of the paper's base size at 64 tokens about 50.
TRACE_BYTES = 256 << 20

# Models kept in memory; each takes 1 to 200 MB.
MODELS = 8

# Characters of a text box. What a model reads is counted in tokens, by the model itself; this only stops a pasted book.
TEXT_CHARACTERS = 1_000
