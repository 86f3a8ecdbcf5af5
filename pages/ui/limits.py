"""All limits on memory and on the size of a page. Limits that keep a figure readable stand beside the code that draws it."""

# Bytes of cached traces, for all sessions together; the least recently used goes first. A trace of a shipped model takes
# 1 to 5 MB, one of the paper's base size at 64 tokens about 50.
TRACE_BYTES = 256 << 20

# Bytes of cached models, for all sessions together; a shipped one takes 1 to 3 MB, one of the paper's base size about 200.
MODEL_BYTES = 512 << 20

# Bytes of all other cached results, for all sessions together: an answer takes less than 1 kB, the plane of a vocabulary 10 kB,
# the calls of a large model 5 MB.
RESULT_BYTES = 64 << 20

# Parameters of the largest model that is built on request, 4 bytes each; the paper's base size has 44 million.
PARAMETERS = 64_000_000

# Largest sizes of an own model: layers of each stack, heads, d_model, d_ff. Up to these, a figure of all heads is readable.
SIZES = {"n_layers": 12, "n_heads": 16, "d_model": 1024, "d_ff": 4096}

# Sentences in a batch.
SENTENCES = 4

# Characters in a text box, so that a pasted book is cut. The model has a limit of its own, in tokens.
TEXT_CHARACTERS = 1_000

# Characters in a search box.
SEARCH_CHARACTERS = 80

# Bytes of the small pictures of heads on the map of the Home page; above it, the map has none.
MAP_BYTES = 100_000

# Largest table of positions: positions and dimensions; and the positions shown at first of a longer one. The figure of the
# largest table is 4 MB on the wire; that of a shipped model's own table, 50 kB.
POSITIONS, POSITION_DIMENSIONS, POSITIONS_FIRST = 512, 1024, 128
