"""`TransformerConfig`: the sizes of a Transformer, and a field for each choice in which three well-known versions differ."""

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from transformer.errors import ConfigError
from transformer.validation import by_name, checked, one_of, within

# Each bound catches a mistyped field. A model with several fields near their bounds still needs more memory than a machine has.
# So code that builds a model from a file or a form first counts the model's numbers (`cost.parameters`,
# `TransformerConfig.table_numbers`).
LARGEST = {"d_model": 8192, "d_ff": 65_536, "heads": 256, "max_len": 65_536, "encoder_layers": 96, "decoder_layers": 96}
LARGEST_VOCAB = 1_000_000
LARGEST_TABLE = 1 << 25  # max_len × d_model
# float32 can still distinguish these numbers from −∞ and from 0.
LOWEST_FILL, LEAST_EPS = -1e30, 1e-30


class NetworkConfig:
    """The fields of a network's configuration that code needs to record its tensors, to change them, and to write answers. The
    base class of `TransformerConfig` and of the configurations of other networks (`transformer.huggingface`).

    Attributes:
        target_vocab: number of tokens in the vocabulary of the target.
        target_pad: the id of padding in a target.
        d_model: width of the residual stream.
        heads: number of heads of an attention. A tensor with another number of heads has it in `Tap.heads`.
        encoder_layers: number of layers of the encoder; 0 for a decoder alone.
        decoder_layers: number of layers of the decoder; 0 for an encoder alone.
        d_ff: width of the hidden layer of the feed-forward network.
        d_head: width of a head.
        source_vocab: number of tokens in the vocabulary of the source.
        position: how positions are encoded: by a `sinusoidal` or `learned` table, or in another way, such as `rotary`.
        norm_first: whether each norm comes before its sub-layer.
        final_norm: whether there is a norm after the last layer of a stack.
        scale_embedding: whether the rows of the token table are multiplied by a factor.
        max_len: the largest number of tokens in a sequence.
        mask_before_scaling: whether scores are hidden before they are scaled.
        mask_fill: the value that replaces a hidden score.
        target_padding: what the mask hides at padding in a target: the padded `queries`, the padded `keys`, or `nothing`.
    """

    target_vocab: int
    target_pad: int
    d_model: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    d_ff: int
    d_head: int
    source_vocab: int
    position: str
    norm_first: bool
    final_norm: bool
    scale_embedding: bool
    max_len: int
    mask_before_scaling: bool
    mask_fill: float
    target_padding: str

    def to_json(self) -> str:
        """Every field as JSON. Derived classes must define this method; here it raises NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} does not define `to_json`")


@by_name
@dataclass(frozen=True, kw_only=True)
class TransformerConfig(NetworkConfig):
    """The sizes of an encoder–decoder Transformer, and the choices between its variants. Section numbers are those of
    "Attention Is All You Need" (Vaswani et al. 2017).

    The defaults are the preset `vanilla`; `TransformerConfig.preset` returns the other presets. A preset is only a set of
    values: no field contains its name, and choices of different presets may be combined.

    Attributes:
        source_vocab, target_vocab: number of tokens in each vocabulary.
        source_pad, target_pad: id of the padding token in each vocabulary.
        d_model: width of the residual stream.
        heads: number of heads of each attention; `d_model` must be a multiple of it.
        encoder_layers, decoder_layers: depth of each stack.
        d_ff: width of the hidden layer of the feed-forward network.
        max_len: the largest number of tokens in a sequence.
        dropout: probability of dropping a value while training.
        scale_embedding: multiply token embeddings by √d_model (section 3.4).
        position: `sinusoidal` (fixed, section 3.5) or `learned` (a trained table `[max_len, d_model]`).
        sinusoid_order: order of the dimensions of fixed positions: `alternating` sines and cosines (section 3.5), or `halves`:
            all sines, then all cosines.
        zero_pad_row: the padding token's embedding is zero at first, and training does not change it, unless the output layer
            uses the same matrix (`tied_weights`).
        tied_weights: which matrices share their weights (section 3.4). `nothing`: no matrices. `output`: the output layer and
            the target's token table. `all`: also the source's token table; both sides then need one vocabulary.
        head_projection: `per_head`: map `d_model → d_model`, then split into heads, so that each head has a map of its
            own (section 3.2.2); `shared`: split first, then one `d_head → d_head` map that all heads share.
        projection_bias: whether the maps to Q, K and V have a bias.
        output_bias: whether the output projection of an attention has a bias.
        score_divisor: scores are divided by the root of `d_head` (section 3.2.1) or of the whole `d_model`.
        mask_before_scaling: hide masked scores before dividing instead of after.
        mask_fill: the value that replaces a hidden score: a number from −10³⁰ to −1000, or −∞.
        target_padding: what padding in the target hides, in addition to the causal mask: the padded `queries` (whole rows), the
            padded `keys` (whole columns), or `nothing`.
        decoder_alone: the decoder may run without an encoder; its cross-attention is then skipped.
        dropout_on: whether dropout follows each sub-layer (`sublayer`, section 5.4) or each normalisation (`norm`).
        activation: activation function of the feed-forward network: `relu` (section 3.3), `gelu`, or `swish`, also called SiLU.
        ff_dropout: dropout inside the feed-forward network, after the activation.
        embedding_dropout: dropout on the sum of token and position (section 5.4).
        norm_first: normalise before each sub-layer (pre-norm) instead of after the residual sum (post-norm).
        norm_eps: ε of every LayerNorm.
        final_norm: one more LayerNorm after the last layer of each stack.
        initialization: `pytorch` (each module's own default) or `xavier` (Xavier uniform on every matrix).

    Raises:
        ConfigError: a field is unknown, a field without a default is missing, or a value is not allowed. The message names the
            field, its value and what is allowed.
    """

    source_vocab: int
    target_vocab: int
    source_pad: int = 0
    target_pad: int = 0
    d_model: int = 512
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 6
    d_ff: int = 2048
    max_len: int = 4096
    dropout: float = 0.1
    scale_embedding: bool = False
    position: Literal["sinusoidal", "learned"] = "sinusoidal"
    sinusoid_order: Literal["alternating", "halves"] = "alternating"
    zero_pad_row: bool = True
    tied_weights: Literal["nothing", "output", "all"] = "nothing"
    head_projection: Literal["per_head", "shared"] = "per_head"
    projection_bias: bool = True
    output_bias: bool = True
    score_divisor: Literal["d_head", "d_model"] = "d_head"
    mask_before_scaling: bool = False
    mask_fill: float = -10_000.0
    target_padding: Literal["queries", "keys", "nothing"] = "queries"
    decoder_alone: bool = True
    dropout_on: Literal["sublayer", "norm"] = "sublayer"
    activation: Literal["relu", "gelu", "swish"] = "relu"
    ff_dropout: bool = True
    embedding_dropout: bool = True
    norm_first: bool = False
    norm_eps: float = 1e-12
    final_norm: bool = False
    initialization: Literal["pytorch", "xavier"] = "pytorch"

    def __post_init__(self) -> None:
        for name, hint in FIELD_TYPES.items():
            object.__setattr__(self, name, checked(name, getattr(self, name), hint))
        for name in ("source_vocab", "target_vocab"):
            within(name, getattr(self, name), 1, LARGEST_VOCAB)
        for name, most in LARGEST.items():
            within(name, getattr(self, name), 1, most)
        within("source_pad", self.source_pad, 0, self.source_vocab - 1)
        within("target_pad", self.target_pad, 0, self.target_vocab - 1)
        if self.tied_weights == "all" and (self.source_vocab, self.source_pad) != (self.target_vocab, self.target_pad):
            raise ConfigError(
                "tied_weights is {value!r}; with different vocabularies or padding, allowed are nothing, output.", value="all"
            )
        if self.max_len * self.d_model > LARGEST_TABLE:
            raise ConfigError(
                "max_len is {value!r}; with d_model {d_model}, allowed are up to {most}.",
                value=self.max_len,
                d_model=self.d_model,
                most=LARGEST_TABLE // self.d_model,
            )
        if self.d_model % self.heads:
            raise ConfigError(
                "d_model is {value!r}; it must be a multiple of heads, which is {heads}.", value=self.d_model, heads=self.heads
            )
        if not 0 <= self.dropout < 1:
            raise ConfigError("dropout is {value!r}; it must be a probability from 0 to below 1.", value=self.dropout)
        if not LEAST_EPS <= self.norm_eps < 1:
            raise ConfigError(
                "norm_eps is {value!r}; it must be a number from {least} to below 1.", value=self.norm_eps, least=LEAST_EPS
            )
        if self.mask_fill != -math.inf and not LOWEST_FILL <= self.mask_fill <= -1_000:
            # With a fill closer to 0, hidden keys would get a visible part of the attention.
            raise ConfigError(
                "mask_fill is {value!r}; allowed are -1000 down to {lowest}, and -inf.",
                value=self.mask_fill,
                lowest=LOWEST_FILL,
            )

    @property
    def d_head(self) -> int:
        """Width of one head: `d_model / heads`."""
        return self.d_model // self.heads

    @property
    def table_numbers(self) -> int:
        """How many numbers the two fixed tables of positions have together, for source and target. 0 for learned positions."""
        return 2 * self.max_len * self.d_model if self.position == "sinusoidal" else 0

    @property
    def score_scale(self) -> float:
        """The number that scores are divided by: √d_head or √d_model, as chosen by `score_divisor`."""
        return math.sqrt(self.d_head if self.score_divisor == "d_head" else self.d_model)

    @classmethod
    def preset(cls, name: str, /, **values: Any) -> "TransformerConfig":
        """The configuration of the preset `name` (`vanilla`, `pytorch` or `shared_heads`), with `values` in place of the
        preset's own values. Vocabulary sizes default to 10.

        Raises:
            ConfigError: there is no preset `name`, a field in `values` does not exist, or a value is not allowed.
        """
        defaults: dict[str, Any] = {"source_vocab": 10, "target_vocab": 10}
        return cls(**(defaults | PRESETS[one_of("preset", name, PRESETS)] | values))

    def replace(self, /, **values: Any) -> "TransformerConfig":
        """A copy of the configuration with the values in `values` for the fields named there.

        Raises:
            ConfigError: a field does not exist, or a value is not allowed.
        """
        return dataclasses.replace(self, **values)

    def to_json(self) -> str:
        """Every field as JSON. `mask_fill` becomes a string, such as "-inf", because JSON has no number for −∞."""
        values = dataclasses.asdict(self)
        return json.dumps(values | {"mask_fill": str(self.mask_fill)})

    @classmethod
    def from_json(cls, text: str) -> "TransformerConfig":
        """The configuration that `to_json` wrote as `text`.

        Raises:
            ConfigError: `text` is not a JSON object, a field is unknown or missing, or a value is not allowed.
        """
        try:
            values = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise ConfigError("The configuration {text!r} is not JSON.", text=text) from None
        if not isinstance(values, dict):
            raise ConfigError("The configuration is {value!r}; it must be a JSON object of fields and values.", value=values)
        try:
            values["mask_fill"] = float(values.get("mask_fill", "-10000"))
        except (TypeError, ValueError, OverflowError):
            raise ConfigError("mask_fill is {value!r}; it must be a number or -inf.", value=values["mask_fill"]) from None
        return cls(**values)


def check_config(config: object) -> None:
    """Check that `config` is a TransformerConfig.

    Raises:
        ConfigError: `config` is not a TransformerConfig.
    """
    if not isinstance(config, TransformerConfig):
        raise ConfigError("{config!r} is not a TransformerConfig, such as TransformerConfig.preset('vanilla').", config=config)


def check_sizes(config: object) -> None:
    """Check that `config` is a NetworkConfig, such as a TransformerConfig or the configuration of another network.

    Raises:
        ConfigError: `config` is not a NetworkConfig.
    """
    if not isinstance(config, NetworkConfig):
        check_config(config)


HINTS = get_type_hints(TransformerConfig)
FIELD_TYPES = {field.name: HINTS[field.name] for field in dataclasses.fields(TransformerConfig)}

# Each preset is one column of the table of variants. Values equal to the defaults of the class are left out.
PRESETS: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "pytorch": {
        "max_len": 5000,
        "scale_embedding": True,
        "zero_pad_row": False,
        "mask_fill": -math.inf,
        "target_padding": "keys",
        "decoder_alone": False,
        "norm_eps": 1e-5,
        "final_norm": True,
        "initialization": "xavier",
    },
    "shared_heads": {
        "d_model": 256,
        "d_ff": 1024,
        "max_len": 100,
        "position": "learned",
        "zero_pad_row": False,
        "head_projection": "shared",
        "projection_bias": False,
        "output_bias": False,
        "score_divisor": "d_model",
        "mask_before_scaling": True,
        "mask_fill": -math.inf,
        "target_padding": "nothing",
        "decoder_alone": False,
        "dropout_on": "norm",
        "ff_dropout": False,
        "norm_eps": 1e-5,
    },
}
