"""Every limit that keeps the app within its memory and a page within its weight. What is drawn of a thing so that it can be
read is said where it is drawn."""

# Bytes of traces kept for all sessions together; the least recently used goes first. A trace of a shipped model takes
# 1 to 5 MB, one of the paper's base size at 64 tokens about 50.
TRACE_BYTES = 256 << 20

# Bytes of models kept for all sessions together; a shipped one takes 1 to 3 MB, one of the paper's base size about 200.
MODEL_BYTES = 512 << 20

# Bytes of anything else that is worked out of a model or a run and kept for all sessions together: an answer takes less than
# 1 kB, the plane of a vocabulary 10 kB, the calls of a large model 5 MB.
RESULT_BYTES = 64 << 20

# Trainable numbers of the largest model that is built on request: the paper's base size has 44 million, and 4 bytes each.
PARAMETERS = 64_000_000

# Sizes that can be asked for: layers of each stack, heads, d_model, d_ff. Within these, a picture of every head can be read.
SIZES = {"n_layers": 12, "n_heads": 16, "d_model": 1024, "d_ff": 4096}

# Sentences of a batch.
SENTENCES = 4

# Characters of a text box. What a model reads is counted in tokens, by the model itself; this only stops a pasted book.
TEXT_CHARACTERS = 1_000

# Characters of a box to search a table.
SEARCH_CHARACTERS = 80

# Bytes of the small pictures of heads on the map of the Home page; a text so long that there would be more gets none.
MAP_BYTES = 100_000

# The table of positions that a person can ask for: positions and dimensions, and the positions that are shown first of a
# longer one. The largest picture is 4 MB on its way to the browser; that of a shipped model's own, 50 kB.
POSITIONS, POSITION_DIMENSIONS, POSITIONS_FIRST = 512, 1024, 128
