"""Tiny models of each family with random weights, in folders as Hugging Face's `transformers` writes them."""

import atexit
import functools
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from transformer.opening import open_model

SPECIALS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
WORDS = ["the", "cat", "dog", "sleeps", "eats", "small", "big", "a", "house", "sees", "old", "man", "woman", ".", "it", "runs"]
VOCAB = 40
# Words that the tokenizer of `save_piece_tokenizer` reads in two pieces each.
IN_PIECES = "thecat sleeps."
SHORT, LONG = "the cat sleeps .", "the old dog <mask> a big house ."
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

_BOTH = {
    "vocab_size": VOCAB,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 1,
    **IDS,
}
_ONE = {
    "vocab_size": VOCAB,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 64,
    **IDS,
}
_GROUPED = {**_ONE, "num_key_value_heads": 2}
_T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2, "vocab_size": VOCAB, "decoder_start_token_id": 0}
_GPT2 = {"vocab_size": VOCAB, "n_positions": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "bos_token_id": 1, "eos_token_id": 2}
_DISTILBERT = {"vocab_size": VOCAB, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 64}
_OPT = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "ffn_dim": 24, "num_attention_heads": 2}
_MODERNBERT = {"global_attn_every_n_layers": 2, "local_attention": 4, "cls_token_id": 1, "sep_token_id": 2}

# Name of a test's model → the class in `transformers`, and its configuration.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "marian": ("MarianMTModel", {**_BOTH, "scale_embedding": True}),
    "bart": ("BartForConditionalGeneration", _BOTH),
    "t5": ("T5ForConditionalGeneration", {**_T5, **IDS}),
    "t5-gated": ("T5ForConditionalGeneration", {**_T5, **IDS, "feed_forward_proj": "gated-gelu"}),
    "pegasus": ("PegasusForConditionalGeneration", {**_BOTH, "scale_embedding": True}),
    "mt5": ("MT5ForConditionalGeneration", {**_T5, **IDS}),
    "gpt2": ("GPT2LMHeadModel", _GPT2),
    "bert": ("BertForMaskedLM", _ONE),
    "llama": ("LlamaForCausalLM", _GROUPED),
    "mbart": ("MBartForConditionalGeneration", {**_BOTH, "scale_embedding": True}),
    "m2m_100": ("M2M100ForConditionalGeneration", {**_BOTH, "pad_token_id": 1, "bos_token_id": 0}),
    "qwen2": ("Qwen2ForCausalLM", _GROUPED),
    "qwen3": ("Qwen3ForCausalLM", {**_GROUPED, "head_dim": 8}),
    "mistral": ("MistralForCausalLM", {**_GROUPED, "sliding_window": 4}),
    "gemma": ("GemmaForCausalLM", {**_GROUPED, "head_dim": 8}),
    "gemma2": ("Gemma2ForCausalLM", {**_GROUPED, "head_dim": 8, "sliding_window": 4}),
    "smollm3": ("SmolLM3ForCausalLM", {**_GROUPED, "no_rope_layers": [1, 0]}),
    "gemma3_text": ("Gemma3ForCausalLM", {**_GROUPED, "head_dim": 8, "sliding_window": 4}),
    "granite": ("GraniteForCausalLM", {**_GROUPED, "residual_multiplier": 0.5, "attention_multiplier": 0.3}),
    "gpt_neox": ("GPTNeoXForCausalLM", _ONE),
    "gpt_neox-one-after-the-other": ("GPTNeoXForCausalLM", {**_ONE, "use_parallel_residual": False}),
    "phi3": ("Phi3ForCausalLM", _GROUPED),
    "blenderbot": ("BlenderbotForConditionalGeneration", {**_BOTH, "scale_embedding": True}),
    "opt": ("OPTForCausalLM", {**_OPT, **IDS, "word_embed_proj_dim": 16, "max_position_embeddings": 64}),
    "opt-post-norm": (
        "OPTForCausalLM",
        {**_OPT, **IDS, "word_embed_proj_dim": 8, "max_position_embeddings": 64, "do_layer_norm_before": False},
    ),
    "phi": ("PhiForCausalLM", _GROUPED),
    "roberta": ("RobertaForMaskedLM", {**_ONE, "pad_token_id": 1, "bos_token_id": 0}),
    "xlm-roberta": ("XLMRobertaForMaskedLM", {**_ONE, "pad_token_id": 1, "bos_token_id": 0}),
    "distilbert": ("DistilBertForMaskedLM", _DISTILBERT),
    "electra": ("ElectraForMaskedLM", {**_ONE, "embedding_size": 8}),
    "modernbert": ("ModernBertForMaskedLM", {**_ONE, **_MODERNBERT}),
}
# In these families positions start after the id of padding, which is 1 as in the real models.
PAD_IS_ONE = ("m2m_100", "roberta", "xlm-roberta")


def tokens_of(size: int = VOCAB, pad: int = 0, words: Sequence[str] = WORDS) -> list[str]:
    """The tokens of a tokenizer, by their ids: special ones, the words, and made-up words up to the size."""
    specials = SPECIALS if pad == 0 else ["<s>", "<pad>", *SPECIALS[2:]]
    return [*specials, *words, *(f"w{index}" for index in range(size))][:size]


def save_tokenizer(folder: Path, pad: int = 0, size: int = VOCAB, ends: bool = True, words: Sequence[str] = WORDS) -> None:
    """Write a tokenizer of words.

    Args:
        folder: the folder to write to.
        pad: the id of `<pad>`, 0 or 1; `<s>` has the other id.
        size: number of pieces.
        ends: whether the tokenizer puts `</s>` after a text.
        words: the words that it knows.
    """
    ids = {token: index for index, token in enumerate(tokens_of(size, pad, words))}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    _save(tokenizer, folder, ends)


def save_piece_tokenizer(folder: Path, ends: bool = True) -> None:
    """Write a tokenizer of pieces of words, which reads `IN_PIECES` and the words `the` and `cat`."""
    ids = {token: index for index, token in enumerate(tokens_of(words=["the", "##cat", "cat", "sleeps", "##."]))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.WordPiece()
    _save(tokenizer, folder, ends)


def _save(tokenizer: Tokenizer, folder: Path, ends: bool) -> None:
    """Write a tokenizer with the special tokens. With `ends`, it puts `</s>` after a text."""
    if ends:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    names = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token", "mask_token"), SPECIALS, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def save_model(name: str, folder: Path, **changes: Any) -> None:
    """Write the model with this name in `MODELS`, with changes of its configuration, as `save_model_of`."""
    class_name, config = MODELS[name]
    save_model_of(class_name, {**config, **changes}, folder)


def save_model_of(class_name: str, config: dict[str, Any], folder: Path) -> None:
    """Write a model of a class with random weights. Biases and norms are random, too, because an error could stay hidden if
    they were 0 or 1."""
    model_class = getattr(transformers, class_name)
    torch.manual_seed(1)
    model = model_class(model_class.config_class(**config))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3 * torch.randn_like(parameter))
    model.save_pretrained(folder)


@functools.cache
def folder_of(name: str) -> Path:
    """The folder of a model, which is written once per run of the tests."""
    folder = _new_folder(name)
    save_model(name, folder)
    save_tokenizer(folder, pad=int(name in PAD_IS_ONE), ends=_ends(name))
    return folder


@functools.cache
def folder_in_pieces(name: str) -> Path:
    """The folder of a model whose tokenizer reads pieces of words, which is written once per run of the tests. The folder has
    the name of the model and `-in-pieces`."""
    folder = _new_folder(f"{name}-in-pieces")
    save_model(name, folder)
    save_piece_tokenizer(folder, ends=_ends(name))
    return folder


def _new_folder(name: str) -> Path:
    above = tempfile.mkdtemp(prefix="headlight-")
    atexit.register(shutil.rmtree, above, ignore_errors=True)
    return Path(above) / name


def _ends(name: str) -> bool:
    """Whether the tokenizer of a model puts `</s>` after a text."""
    return MODELS[name][0].find("CausalLM") < 0 and name != "gpt2"


@functools.cache
def opened(name: str) -> Any:
    """The model opened by `open_model`. Do not change it."""
    return open_model(folder_of(name))


def reference(name: str) -> PreTrainedModel:
    """The same weights, opened by `transformers` itself with its own attention. Each call returns a new model."""
    model_class = getattr(transformers, MODELS[name][0])
    return model_class.from_pretrained(folder_of(name), attn_implementation="eager", local_files_only=True).eval()
