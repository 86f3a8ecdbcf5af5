"""Encoder, decoder, and the two together in `Transformer` (Vaswani et al. 2017, section 3.1 and figure 1)."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.cache import KeyValueCache
from transformer.network.config import TransformerConfig, check_config
from transformer.network.embedding import Embedding
from transformer.network.layers import DecoderLayer, EncoderLayer
from transformer.network.masks import Mask, source_mask, target_mask
from transformer.network.tap import Tap, name_taps, watched
from transformer.validation import has_numbers


class Encoder(nn.Module):
    """A stack of encoder layers, and after them a LayerNorm if `config.final_norm` is True."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.final_norm else nn.Identity()

        # Taps: each names a tensor, and changes nothing.
        self.output = Tap("batch source d_model")

    def forward(self, x: Float[Tensor, "batch source d_model"], source_mask: Mask) -> Float[Tensor, "batch source d_model"]:
        for layer in self.layers:
            x = layer(x, source_mask)
        return self.output(self.norm(x))


class Decoder(nn.Module):
    """A stack of decoder layers, and after them a LayerNorm if `config.final_norm` is True. If `memory` (the encoder's output)
    is None, every layer skips its cross-attention."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.final_norm else nn.Identity()

        # Taps: each names a tensor, and changes nothing.
        self.output = Tap("batch target d_model")

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"] | None,
        target_mask: Mask,
        source_mask: Mask | None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        for layer in self.layers:
            x = layer(x, memory, target_mask, source_mask, cache)
        return self.output(self.norm(x))


class Transformer(nn.Module):
    """An encoder–decoder Transformer: from source and target ids to logits for the token after each target position.

    The target is the decoder's *input*: it starts with `<sos>`, and the token to predict at each position is the next token.
    `forward` is `encode` followed by `decode`; generation calls `encode` once and `decode` at every step.

    Raises:
        ConfigError: `config` is not a TransformerConfig.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        check_config(config)
        self.config = config
        self.source_embedding = Embedding(config, "source")
        self.encoder = Encoder(config)
        self.target_embedding = Embedding(config, "target")
        self.decoder = Decoder(config)
        self.output_projection = nn.Linear(config.d_model, config.target_vocab)
        self.tie()

        # Taps: each names a tensor, and changes nothing.
        self.source_mask = Tap("batch 1 1 source")
        self.target_mask = Tap("batch 1 target target")
        self.logits = Tap("batch target vocab")
        self.probabilities = Tap("batch target vocab")
        self.taps = name_taps(self)
        self.initialize()

    def tie(self) -> None:
        """Make the output layer share its matrix with the token tables that `config.tied_weights` names: no table, the target's
        table, or both tables (Vaswani et al. 2017, section 3.4)."""
        if self.config.tied_weights == "all":
            self.target_embedding.table.weight = self.source_embedding.table.weight
        if self.config.tied_weights != "nothing":
            self.output_projection.weight = self.target_embedding.table.weight

    def initialize(self) -> None:
        """Initialize the parameters. If `config.initialization` is `xavier`, each matrix gets Xavier uniform values, and the
        rows of padding become 0 if `config.zero_pad_row` is True. If it is `pytorch`, PyTorch's own defaults stay."""
        if self.config.initialization == "xavier":
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)
            for table in (self.source_embedding.table, self.target_embedding.table):
                if table.padding_idx is not None:
                    nn.init.zeros_(table.weight[table.padding_idx].detach())

    def forward(
        self, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab"]:
        """Logits for the token after each target position.

        Args:
            source: token ids, or None to run the decoder alone if `config.decoder_alone` allows it.
            target: token ids of the decoder's input.

        Raises:
            InputError: an argument is not a tensor of ids, is empty, is longer than `max_len`, or has an id outside the
                vocabulary; the batches have different sizes; or `source` is None and `config.decoder_alone` is False.
        """
        if source is None:
            return self.decode(target, None, None)
        memory, mask = self.encode(source)
        _check_rows(memory, target)
        return self.decode(target, memory, mask)

    def encode(self, source: Int[Tensor, "batch source"]) -> tuple[Float[Tensor, "batch source d_model"], Mask]:
        """The encoder's output (the memory), and the mask of the source keys that may be attended to.

        Raises:
            InputError: `source` is not a tensor of ids, is empty, is longer than `max_len`, or has an id outside the
                vocabulary.
        """
        self.source_embedding.check(source)  # before the mask is made from the ids; the embedding checks them again
        mask = Mask.of(self.source_mask(source_mask(source, self.config)))
        return self.encoder(self.source_embedding(source), mask), mask

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"] | None,
        mask: Mask | None,
        cache: KeyValueCache | None = None,
        rows: int | None = None,
    ) -> Float[Tensor, "batch position vocab"]:
        """Logits for the token after each target position. With a cache, the logits are only for the positions that are not in
        the cache yet.

        Args:
            target: token ids of the decoder's input, including the positions that are in the cache.
            memory, mask: what `encode` returned for a batch of the same size; None for both to run the decoder alone.
            cache: keys and values of the first `cache.length` positions; the decoder adds the keys and values of the other
                positions.
            rows: compute the logits of only the last `rows` positions; None for all positions.

        Raises:
            InputError: `target` is not a tensor of ids, is empty, is longer than `max_len`, or has an id outside the
                vocabulary; the batches have different sizes; the memory is None and `config.decoder_alone` is False; the memory
                and the mask do not fit this model or each other; the cache is not a KeyValueCache, or already has all
                positions; or `rows` is not a positive whole number.
        """
        if rows is not None and (not isinstance(rows, int) or rows < 1):
            raise InputError("rows is {rows!r}; it must be a whole number of at least 1, or None.", rows=rows)
        if cache is not None and not isinstance(cache, KeyValueCache):
            raise InputError("cache is {cache!r}; it must be one that `new_cache` made, or None.", cache=cache)
        if (memory is None) != (mask is None):
            raise InputError("The memory and its mask belong together: give both, or None for both.")
        if memory is None and not self.config.decoder_alone:
            raise InputError("This variant needs a source; only with decoder_alone = True does the decoder run without one.")
        self.target_embedding.check(target)  # as in `encode`
        if memory is not None and mask is not None:
            self._check_memory(memory, mask)
            _check_rows(memory, target)
        first = cache.length if cache else 0
        if first >= target.shape[1]:
            template = "The target has {length} tokens and the cache {first}; the target must be longer."
            raise InputError(template, length=target.shape[1], first=first)
        own_mask = Mask.of(self.target_mask(target_mask(target, self.config, first)))
        decoded = self.decoder(self.target_embedding(target[:, first:], first), memory, own_mask, mask, cache)
        if cache:
            cache.length = target.shape[1]
        logits = self.logits(self.output_projection(decoded if rows is None else decoded[:, -rows:]))
        if watched():  # the model itself does not use the probabilities, so they are computed only for a trace
            self.probabilities(logits.softmax(-1))
        return logits

    def check_ids(self, side: str, ids: object) -> None:
        """Check that the model can read `ids` as its `source` or `target`, whichever `side` names.

        Raises:
            InputError: `side` is neither of these, or `ids` is not a tensor of ids, is empty, is longer than `max_len`, or has
                an id outside the vocabulary.
        """
        embedding_of(self, side).check(ids)

    def new_cache(self) -> KeyValueCache:
        """An empty cache of keys and values, for `decode`."""
        return KeyValueCache()

    def _check_memory(self, memory: object, mask: object) -> None:
        """Check that the memory has the model's width, and that the mask has the memory's size. Raises InputError."""
        width = self.config.d_model
        shape = tuple(memory.shape) if isinstance(memory, Tensor) and has_numbers(memory) else memory
        if not isinstance(memory, Tensor) or memory.dim() != 3 or memory.shape[-1] != width or not has_numbers(memory):
            raise InputError(
                "The memory is {memory!r}; it must be a tensor [batch, source, {width}].", memory=shape, width=width
            )
        rows, length, _ = memory.shape
        keep = mask.keep if isinstance(mask, Mask) else None
        if keep is None or keep.dim() != 4 or keep.shape[-1] != length or keep.shape[0] not in (1, rows):
            raise InputError(
                "The mask is {mask!r}; for this memory it must be the Mask that `encode` returned, [{rows}, 1, 1, {length}].",
                mask=mask if keep is None else tuple(keep.shape),
                rows=rows,
                length=length,
            )


def embedding_of(model: Transformer, side: str) -> Embedding:
    """The module that embeds the token ids of the source or of the target, whichever `side` names.

    Raises:
        InputError: `side` is neither `source` nor `target`.
    """
    if not isinstance(side, str) or side not in ("source", "target"):
        raise InputError("There is no side {side!r}; allowed are source and target.", side=side)
    return model.source_embedding if side == "source" else model.target_embedding


def _check_rows(memory: Tensor, target: object) -> None:
    """Check that target and memory have the same number of rows, else raise InputError. `Embedding.check` checks the rest."""
    if isinstance(target, Tensor) and target.dim() == 2 and memory.shape[0] != target.shape[0]:
        raise InputError(
            "The source has {source} rows and the target {target}; they must have the same number.",
            source=len(memory),
            target=len(target),
        )
