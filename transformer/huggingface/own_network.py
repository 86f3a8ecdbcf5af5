"""A Marian model of `transformers` in Headlight's own network: the same weights, in a `Transformer` with all its taps.

Marian is a post-norm Transformer with sinusoidal positions, all sines first, and mostly with one table for source, target and
output. `TransformerConfig` has a field for each of these, so no matrix is changed: both models share the memory of their
weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import PreTrainedModel

from transformer.errors import CheckpointError, ConfigError
from transformer.huggingface.hf_opening import Opened, read_folder, readable_model
from transformer.huggingface.hf_pipeline import HuggingFacePipeline
from transformer.network.config import TransformerConfig
from transformer.network.embedding import sinusoid
from transformer.network.masks import padding_keys
from transformer.network.model import Transformer
from transformer.network.tap import Edit
from transformer.pipeline.agreement import Agreement, check_sides
from transformer.tracing.paths import SIDES
from transformer.tracing.trace import Trace, run_traced

MARIAN_EPS = 1e-5  # the ε of every norm of Marian
# Marian's name of an activation → ours.
ACTIVATIONS: dict[str, Literal["relu", "gelu", "swish"]] = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
# Logits may differ from those of `transformers` by this share of the largest logit, because sums in another order are rounded
# differently.
ROUNDING = 1e-4
# A table of positions counts as sinusoidal if it differs from the sinusoids by less than this: files store it in single
# precision.
WAVE_TOLERANCE = 1e-5


def marian_modules(stack: str) -> dict[str, str]:
    """Path of a module within a layer of Headlight's `Transformer` → path of the same module within a layer of Marian. `stack`
    is `encoder` or `decoder`."""
    modules = {}
    attentions = {"self_attention": "self_attn"} | ({"cross_attention": "encoder_attn"} if stack == "decoder" else {})
    for ours, theirs in attentions.items():
        modules |= {f"{ours}.{name}.projection": f"{theirs}.{name[0]}_proj" for name in ("query", "key", "value")}
        modules |= {f"{ours}.output_projection": f"{theirs}.out_proj", f"{ours}_add_norm.norm": f"{theirs}_layer_norm"}
    return modules | {
        "feed_forward.up_projection": "fc1",
        "feed_forward.down_projection": "fc2",
        "feed_forward_add_norm.norm": "final_layer_norm",
    }


def own_network(marian: PreTrainedModel, pad: int, longest: int) -> Transformer:
    """Headlight's `Transformer` with the weights of a Marian model, in evaluation mode.

    Args:
        marian: the model. Its weights are shared, not copied.
        pad: id of padding, of both sides.
        longest: most tokens of a text.

    Raises:
        CheckpointError: `Transformer` cannot represent the model; the message says why.
    """
    if marian.config.model_type != "marian":
        template = "Only a model of the type marian runs in our own network; this one is of the type {type!r}."
        raise CheckpointError(template, type=marian.config.model_type)
    if not hasattr(marian, "lm_head"):
        raise CheckpointError("This Marian has no output layer, so it does not run in our own network.")
    weights = {**dict(marian.named_parameters(remove_duplicate=False)), **dict(marian.named_buffers())}
    try:
        config = own_config(marian, pad, longest)
    except ConfigError as error:
        raise CheckpointError("Our own network cannot hold this model. {problem}", problem=error) from error
    with torch.device("meta"):  # shapes without memory
        network = Transformer(config)
    named = {"output_projection.weight": weights["lm_head.weight"], "output_projection.bias": weights["final_logits_bias"][0]}
    for side, stack in (("source", "encoder"), ("target", "decoder")):
        named[f"{side}_embedding.table.weight"] = weights[f"model.{stack}.embed_tokens.weight"]
        if config.position == "learned":
            named[f"{side}_embedding.positions.table.weight"] = weights[f"model.{stack}.embed_positions.weight"][:longest]
        for layer in range(getattr(config, f"{stack}_layers")):
            for ours, theirs in marian_modules(stack).items():
                for part in ("weight", "bias"):
                    name = f"model.{stack}.layers.{layer}.{theirs}.{part}"
                    named[f"{stack}.layers.{layer}.{ours}.{part}"] = weights[name]
    network.load_state_dict(named, assign=True)
    network.tie()
    return network.eval()


def own_config(marian: PreTrainedModel, pad: int, longest: int) -> TransformerConfig:
    """The configuration with which Headlight's `Transformer` computes the same as a Marian model. `pad` is the id of padding on
    both sides, `longest` the most tokens of a text. Raises `CheckpointError` or `ConfigError` if `Transformer` cannot represent
    the model."""
    given: Any = marian.config
    for ours, theirs in (("heads", "attention_heads"), ("d_ff", "ffn_dim")):
        encoder, decoder = (getattr(given, f"{stack}_{theirs}") for stack in ("encoder", "decoder"))
        if encoder != decoder:
            template = "In our own network both stacks have the same {field}; in this model they are {encoder} and {decoder}."
            raise CheckpointError(template, field=ours, encoder=encoder, decoder=decoder)
    if given.activation_function not in ACTIVATIONS:
        template = "The activation of the model is {activation!r}; our own network has {allowed}."
        raise CheckpointError(template, activation=given.activation_function, allowed=", ".join(ACTIVATIONS))
    if pad < 0:
        raise CheckpointError("In our own network a model needs a token for padding; this tokenizer has none.")
    model: Any = marian
    source, target = (model.model.encoder.embed_tokens.weight, model.model.decoder.embed_tokens.weight)
    tied = "nothing" if model.lm_head.weight is not target else "all" if source is target else "output"
    return TransformerConfig(
        source_vocab=len(source),
        target_vocab=len(target),
        source_pad=pad,
        target_pad=pad,
        d_model=given.d_model,
        heads=given.encoder_attention_heads,
        encoder_layers=given.encoder_layers,
        decoder_layers=given.decoder_layers,
        d_ff=given.encoder_ffn_dim,
        max_len=longest,
        dropout=float(given.dropout),
        scale_embedding=bool(given.scale_embedding),
        position="sinusoidal" if all(map(_are_waves, _position_tables(model))) else "learned",
        sinusoid_order="halves",
        zero_pad_row=False,
        tied_weights=tied,
        mask_fill=-torch.inf,
        # A decoder starts with the id of padding, so that id does not say which targets are padded.
        target_padding="nothing",
        decoder_alone=False,
        activation=ACTIVATIONS[given.activation_function],
        ff_dropout=False,
        norm_eps=MARIAN_EPS,
    )


def _position_tables(model: Any) -> tuple[Tensor, Tensor]:
    return model.model.encoder.embed_positions.weight, model.model.decoder.embed_positions.weight


def _are_waves(table: Tensor) -> bool:
    return bool((table - sinusoid(*table.shape, order="halves")).abs().max() < WAVE_TOLERANCE)


class OwnNetworkPipeline(HuggingFacePipeline):
    """A Marian model that answers and traces texts in Headlight's own `Transformer`. Marian's tokenizer reads the texts.

    Attributes:
        network: the `Transformer`. Its weights are those of `original`, the model of `transformers`.
    """

    def __init__(self, opened: Opened, network: Transformer) -> None:
        self._marian = opened.model
        super().__init__(opened.name, network, opened.tokenizer, opened.generation_ids)

    @property
    def model(self) -> Transformer:
        """The network, which is Headlight's own `Transformer`."""
        return self.network

    @property
    def original(self) -> Any:
        """The Marian model of `transformers`, which shares the memory of its weights with the network."""
        return self._marian

    @property
    def stacks(self) -> tuple[str, ...]:
        """The names of the model's stacks: `encoder` and `decoder`."""
        return ("encoder", "decoder")

    @property
    def missing(self) -> tuple[str, ...]:
        """Paths of tensors that cannot be traced: empty, because all can be."""
        return ()

    @property
    def note(self) -> str:
        """How the network differs from Headlight's `Transformer`: empty, because it is one."""
        return ""

    @property
    def parameters(self) -> int:
        """The number of parameters; a parameter that is used in two places is counted once."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the weights and of the tables that are not trained."""
        return sum(tensor.nbytes for tensor in [*self.network.parameters(), *self.network.buffers()])

    def check(self, trace: Trace) -> Agreement:
        """Compare the logits of an unedited trace with those of `transformers`, and return how well they agree. They are equal
        up to rounding, but not bit for bit. This takes one forward pass. Raises `InputError` as `Pipeline.check`."""
        check_sides(trace, self.stacks)
        source, target = self.batch(trace.source_ids, "source"), self.batch(trace.target_ids, "target")
        return self._agreement(source, target, trace.logits)

    def check_network(self) -> None:
        """Check that the network computes the same logits as `transformers`. A difference would be an error in Headlight's
        code.

        Raises:
            CheckpointError: on a few ids, one of them padding, the logits differ by more than rounding.
        """
        pad, rows = self.config.source_pad, len(self.source_vocabulary)
        source, target = (torch.tensor([[0, 1, 2], [1, 2, last]]) % rows for last in (pad, 3))
        with torch.inference_mode():
            logits = self.network(source, target)
        if not self._agreement(source, target, logits).rounding:
            raise CheckpointError("In our own network this model computes other logits than in `transformers`.")

    def _agreement(self, source: Tensor, target: Tensor, logits: Tensor) -> Agreement:
        keep = padding_keys(source, self.config.source_pad)[:, 0, 0].long()
        with torch.inference_mode():
            theirs = self.original(input_ids=source, attention_mask=keep, decoder_input_ids=target, use_cache=False).logits
        agreement = Agreement.of(theirs, logits)
        return agreement._replace(rounding=agreement.difference <= ROUNDING * float(1 + logits.abs().max()))

    def _traced(self, source: Tensor | None, target: Tensor | None, edits: Sequence[Edit]) -> Trace:
        assert source is not None
        assert target is not None
        labels = (self.vocabulary(side).tokens_of for side in SIDES)
        source_tokens, target_tokens = (
            tuple(map(label, ids.tolist())) for label, ids in zip(labels, (source, target), strict=True)
        )
        trace = run_traced(self.network, source, target, edits, source_tokens, target_tokens)
        source_words, target_words = (tuple(map(self.vocabulary(side).words_of, trace.ids_of(side))) for side in SIDES)
        return replace(trace, source_words=source_words, target_words=target_words)


def open_own_network(path: str | Path) -> OwnNetworkPipeline:
    """The pipeline of the Marian model in a folder, which runs in Headlight's own `Transformer`.

    Raises:
        CheckpointError: a check of the folder fails (`transformer.huggingface.folder`), or `Transformer` cannot represent the
            model.
    """
    opened = read_folder(path)
    with readable_model(opened.name):
        pipeline = OwnNetworkPipeline(opened, own_network(opened.model, opened.pad, opened.longest))
        pipeline.check_network()
    return pipeline
