"""Export Headlight's models in Hugging Face's format: a folder of the class `MarianMTModel`, which `transformers` and
`open_model` read.

Marian has all parts of our models: post-norm layers, the same activations, sinusoidal positions, an embedding table for each
side and a separate output matrix. Four things are different in the folder:

- The dimensions of the residual stream have another order, because Marian's positions have all sines first and then all
  cosines.
- Both vocabularies are joined, with a row for each word of either, because Marian has one tokenizer. A word that the source or
  the target lacks is read there as `<unk>`. A word that the target lacks has a logit so low that it is never written.
- A model with a norm after each stack gets one more layer in each stack. The sub-layers of this layer add nothing, so only its
  norms have an effect.
- One tokenizer reads both sides. It splits and joins texts as ours do, but leaves contractions and numbers as they are typed.
"""

import math
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor
from transformers import GenerationConfig, MarianConfig, PreTrainedTokenizerFast

from transformer.errors import CheckpointError, InputError
from transformer.huggingface.own_network import MARIAN_EPS, marian_modules
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.pipeline.checkpoint import as_path, check_finite
from transformer.pipeline.pipeline import Pipeline
from transformer.text.subwords import Subwords
from transformer.text.tokenizer import APOSTROPHES, DASHES
from transformer.text.vocabulary import EOS, PAD, SOS, SPECIALS, UNK, Vocabulary

# English and French words: an elision such as `l'` is a token, and so is `'s`.
WORDS = r"aujourd'hui|[^\W\d_]+'(?!s\b)|'s\b|[^\W\d_]+(-[^\W\d_]+)*|\d+|[^\w\s]"
# Name of our tokenizer of the source → pattern of the tokens in a text of either side.
TOKENS = {
    "characters": r"\S",
    "words and digits": r"[^\W\d_]+|\d|[^\w\s]",
    "english": WORDS,
    "french": WORDS,
}
SUPPRESSED_LOGIT = -1e9  # logit of a word that the target lacks
# Field of our configuration → the only value that Marian can represent.
NEEDED = {
    "norm_first": False,
    "norm_eps": MARIAN_EPS,
    "position": "sinusoidal",
    "head_projection": "per_head",
    "projection_bias": True,
    "output_bias": True,
    "score_divisor": "d_head",
    "mask_before_scaling": False,
}


def write_marian(pipeline: Pipeline, folder: str | Path) -> None:
    """Write a Headlight model as a folder of the class `MarianMTModel`, which `transformers` can open.

    Args:
        pipeline: the pipeline of a post-norm model with sinusoidal positions.
        folder: the folder to write; it is created if it is missing, and files in it are replaced.

    Raises:
        CheckpointError: Marian cannot represent the model, for the reason in the message; a parameter is not finite; or the
            folder cannot be written.
        InputError: `pipeline` is not a Pipeline.
    """
    if not isinstance(pipeline, Pipeline):
        raise InputError("The pipeline must be a Pipeline, as `Pipeline.load` returns it, not {given!r}.", given=pipeline)
    config, folder = pipeline.config, as_path(folder)
    for field, value in NEEDED.items():
        if getattr(config, field) != value:
            template = "This model cannot be written for Marian: its {field} is {value!r}; it must be {needed!r}."
            raise CheckpointError(template, field=field, value=getattr(config, field), needed=value)
    vocabulary = pipeline.target_vocabulary
    of_words = isinstance(vocabulary, Vocabulary) and vocabulary.framed and not isinstance(vocabulary, Subwords)
    if config.d_model % 2 or not of_words:
        raise CheckpointError("Only a model with an even d_model and a vocabulary of words or letters can be written.")
    tokens = joint_tokens(pipeline)
    weights = marian_weights(pipeline, tokens)
    check_finite(weights)
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    names = pipeline.source_vocabulary.tokenizer_name, pipeline.target_vocabulary.tokenizer_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _config(config, len(tokens)).save_pretrained(folder)
        GenerationConfig(**special, max_length=config.max_len).save_pretrained(folder)
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        _tokenizer(tokens, *names).save_pretrained(folder)
    except (OSError, ValueError, SafetensorError) as error:  # a ValueError: the path has a null character
        template = "The folder {name!r} cannot be written ({problem})."
        raise CheckpointError(template, name=folder.name, problem=str(error)) from error


def joint_tokens(pipeline: Pipeline) -> tuple[str, ...]:
    """The tokens of the joint vocabulary: the special tokens, then the words of the source and of the target, sorted and each
    once."""
    return (*SPECIALS, *sorted({*pipeline.source_vocabulary.words, *pipeline.target_vocabulary.words}))


def marian_weights(pipeline: Pipeline, tokens: tuple[str, ...]) -> dict[str, Tensor]:
    """The weights of the exported model: name of a tensor of `MarianMTModel` → its values.

    Args:
        pipeline: the pipeline of the model.
        tokens: the tokens of the joint vocabulary (`joint_tokens`).
    """
    model, config = pipeline.model, pipeline.config
    order = torch.arange(config.d_model)
    if config.sinusoid_order == "alternating":
        order = torch.cat([order[0::2], order[1::2]])  # all sines, then all cosines
    weights: dict[str, Tensor] = {}
    for side, stack in (("source", "encoder"), ("target", "decoder")):
        vocabulary = pipeline.source_vocabulary if side == "source" else pipeline.target_vocabulary
        table = (model.source_embedding if side == "source" else model.target_embedding).table.weight
        weights[f"model.{stack}.embed_tokens.weight"] = table[vocabulary.ids(tokens)][:, order]
        weights |= _stack(model, stack, order)
    known = set(pipeline.target_vocabulary.tokens)
    ids, written = pipeline.target_vocabulary.ids(tokens), torch.tensor([token in known for token in tokens])
    output = model.output_projection
    weights["lm_head.weight"] = torch.where(written[:, None], output.weight[ids][:, order], 0.0)
    weights["final_logits_bias"] = torch.where(written, output.bias[ids], SUPPRESSED_LOGIT)[None]
    return {name: tensor.detach().float().contiguous() for name, tensor in weights.items()}


def _stack(model: Transformer, stack: str, order: Tensor) -> dict[str, Tensor]:
    """Name of a tensor of `MarianMTModel` → its values, for the layers of a stack. A norm after the stack becomes one more
    layer."""
    weights: dict[str, Tensor] = {}
    ours: Any = model.encoder if stack == "encoder" else model.decoder
    modules = marian_modules(stack)
    for index, layer in enumerate(ours.layers):
        for name, theirs in modules.items():
            module, path = layer.get_submodule(name), f"model.{stack}.layers.{index}.{theirs}"
            weight, bias = module.weight, module.bias
            # Norms and the last map of a sub-layer write to the residual stream, so their rows get the new order. The other
            # maps read it, so their columns do.
            written = theirs.endswith(("norm", "out_proj", "fc2"))
            weights[f"{path}.weight"] = weight[order] if written else weight[:, order]
            weights[f"{path}.bias"] = bias[order] if written else bias
    if model.config.final_norm:
        norms = [theirs for theirs in modules.values() if theirs.endswith("norm")]
        weights |= _norm_layer(weights, f"model.{stack}.layers", len(ours.layers), norms, ours.norm, order)
    return weights


def _norm_layer(
    weights: dict[str, Tensor], layers: str, index: int, norms: list[str], norm: torch.nn.Module, order: Tensor
) -> dict[str, Tensor]:
    """The weights of a layer whose sub-layers add nothing, so that its norms follow one another. The first norm normalises.
    Each later norm reads a vector of variance v ≈ 1 and divides it by √(v + ε). The weight of the last norm corrects for these
    divisions.

    Args:
        weights: the weights of the stack so far.
        layers: path of the list of layers.
        index: index of the new layer.
        norms: names of the norms of a layer, in the order they run.
        norm: the norm after the stack.
        order: Marian's order of the dimensions.
    """
    last, new = f"{layers}.{index - 1}.", f"{layers}.{index}."
    zeros = {name.replace(last, new): torch.zeros_like(tensor) for name, tensor in weights.items() if name.startswith(last)}
    scale, shift = (weights[f"{last}{norms[-1]}.{part}"].detach().double() for part in ("weight", "bias"))
    before = float(scale.square().mean() + shift.var(unbiased=False))  # average variance of the layer's input
    variance, factor = before / (before + MARIAN_EPS), 1.0
    for name in norms[:-1]:
        zeros[f"{new}{name}.weight"] = torch.ones_like(scale).float()
        factor *= math.sqrt(variance + MARIAN_EPS)
        variance /= variance + MARIAN_EPS
    zeros[f"{new}{norms[-1]}.weight"] = factor * norm.get_parameter("weight")[order]
    zeros[f"{new}{norms[-1]}.bias"] = norm.get_parameter("bias")[order]
    return zeros


def _config(config: TransformerConfig, vocab: int) -> MarianConfig:
    more = int(config.final_norm)
    return MarianConfig(
        architectures=["MarianMTModel"],
        vocab_size=vocab,
        decoder_vocab_size=vocab,
        d_model=config.d_model,
        encoder_layers=config.encoder_layers + more,
        decoder_layers=config.decoder_layers + more,
        encoder_attention_heads=config.heads,
        decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.d_ff,
        decoder_ffn_dim=config.d_ff,
        max_position_embeddings=config.max_len,
        scale_embedding=config.scale_embedding,
        activation_function=config.activation,
        dropout=config.dropout,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        forced_eos_token_id=None,
        tie_word_embeddings=False,
        share_encoder_decoder_embeddings=False,
    )


def _tokenizer(tokens: tuple[str, ...], source: str, target: str) -> PreTrainedTokenizerFast:
    """A tokenizer that splits texts like our tokenizer of the source, and joins tokens like our tokenizer of the target."""
    ids = {token: index for index, token in enumerate(tokens)}
    tokenizer: Any = Tokenizer(models.WordLevel(ids, unk_token=UNK))
    signs = [normalizers.Replace(chr(code), sign) for code, sign in (APOSTROPHES | DASHES).items()]
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase(), *signs])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(TOKENS[source]), "removed", invert=True)
    around = [(SOS, ids[SOS]), (EOS, ids[EOS])]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{SOS} $A {EOS}", special_tokens=around)
    spaces = [] if target == "characters" else [decoders.WordPiece(prefix=" ", cleanup=False)]
    tokenizer.decoder = decoders.Sequence([*spaces, decoders.Fuse(), decoders.Replace(Regex(r"(?<=\w') "), "")])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, bos_token=SOS, eos_token=EOS, unk_token=UNK)
