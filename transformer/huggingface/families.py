"""Where the tensors of a forward pass are in the modules of each architecture.

A `Point` is the input or the output of a module. Each family lists the points of one layer and the points outside the layers,
under names that are the same for all architectures. The tensors inside the attention function (`hf_attention`) are not listed
here, because query, key, value, scores, weights and head outputs are the same in all architectures.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from transformer.huggingface.output import TOKENS, Output


class Point(NamedTuple):
    """A place where a trace reads a tensor: the input or the output of a module.

    Attributes:
        module: path of the module; or several paths with `|` between them, of which the first that exists is used. In the
            points of a layer, an empty path is the layer itself.
        end: whether the point is the input or the output.
        stream: whether the tensor is the residual stream. An edit then changes the tensor in place, because the layer reads the
            same tensor again later, to add to it.
        item: index of the tensor, counted from 0, if the module returns several.
    """

    module: str
    end: Literal["input", "output"]
    stream: bool = False
    item: int = 0


Points = Mapping[str, Point]


def out(module: str, item: int = 0) -> Point:
    """The point at the output of the module with the path `module`. If the module returns several tensors, the point is at the
    one with the index `item`, counted from 0."""
    return Point(module, "output", item=item)


def into(module: str) -> Point:
    """The point at the input of the module with the path `module`."""
    return Point(module, "input")


@dataclass(frozen=True)
class Stack:
    """The encoder or the decoder of a family of models, and where its tensors are.

    Attributes:
        module: path of the stack in the model.
        layers: path of its list of layers.
        attentions: `self_attention` or `cross_attention` → path, from the layer, of the module that calls the attention
            function.
        points: Headlight's name of a tensor in a layer, such as `feed_forward.hidden` → its point, whose module path starts at
            the layer.
        embedding: name of a tensor before the layers (`token`, `position`, `sum`, …) → its point, whose module path starts at
            the model. `stream` is the input of the first layer if that is not `sum` or `normalized`.
    """

    module: str
    layers: str
    attentions: Mapping[str, str]
    points: Points
    embedding: Points


@dataclass(frozen=True)
class Family:
    """The models of one architecture, and where their tensors are.

    Attributes:
        model_class: name of the class in `transformers`, with the output layer if the models have one.
        encoder, decoder: the stacks of the model; None for a stack that it lacks.
        other: Headlight's name of a tensor outside the stacks → its point.
        first_position: function from a configuration to the number of rows at the start of the position table that no token
            uses.
        note: how the network differs from Headlight's `Transformer`, in a sentence or two, as Markdown; may be empty.
        output: what the models compute from their last vectors.
    """

    model_class: str
    encoder: Stack | None = None
    decoder: Stack | None = None
    other: Points = field(default_factory=dict)
    first_position: Callable[[Any], int] = lambda _: 0
    note: str = ""
    output: Output = TOKENS


def add_norms(norms: Mapping[str, str], norm_first: bool) -> dict[str, Point]:
    """The points of the norms and of the residual sums in a layer: name of the tensor, such as `feed_forward_add_norm.sum` →
    point.

    Args:
        norms: name of a sub-layer, such as `feed_forward` → path of its norm in the layer, in the order in which they run.
        norm_first: whether the norm is before the sub-layer (pre-norm).
    """
    points, modules = {}, [*norms.values()]
    for index, (sublayer, norm) in enumerate(norms.items()):
        points[f"{sublayer}_add_norm.normalized"] = out(norm)
        if not norm_first:
            points[f"{sublayer}_add_norm.sum"] = into(norm)
        elif index + 1 < len(modules):
            points[f"{sublayer}_add_norm.sum"] = Point(modules[index + 1], "input", stream=True)
        else:
            points[f"{sublayer}_add_norm.sum"] = out("")
    return points


def projections(sublayer: str, query: str, key: str, value: str, output: str) -> dict[str, Point]:
    """Where in the modules of `transformers` the tensors of an attention are found (`Point`), by the name of the tensor: the
    queries, keys and values after their projections, and the tensors that the function `joined` names. `sublayer` is
    `self_attention` or `cross_attention`; the other arguments are paths of modules in a layer."""
    return {
        f"{sublayer}.query.projected": out(query),
        f"{sublayer}.key.projected": out(key),
        f"{sublayer}.value.projected": out(value),
    } | joined(sublayer, output)


def joined(sublayer: str, output: str) -> dict[str, Point]:
    """The points of the joined head outputs and of the attention's output, which is added to the residual stream: name of the
    tensor → point. `sublayer` is `self_attention` or `cross_attention`; `output` is the path of the output projection in a
    layer."""
    return {f"{sublayer}.concatenated": into(output), f"{sublayer}.output": out(output)}


def feed_forward(hidden: str, output: str, gate: str = "") -> dict[str, Point]:
    """The points of the feed-forward network, before and after its activation and at its output: name of the tensor → point.
    With a gate, `activated` is the product of the activated gate and `hidden`. The arguments are paths of linear layers in a
    layer of the model; an empty `gate` means that the network has no gate."""
    points = {"feed_forward.hidden": out(hidden)} | ({"feed_forward.gate": out(gate)} if gate else {})
    return points | {"feed_forward.activated": into(output), "feed_forward.output": out(output)}


# --- encoder and decoder ---------------------------------------------------------------------------------------------------


def _bart_stack(side: str, norm_first: bool, norm_of_embedding: bool) -> Stack:
    attentions = {"self_attention": "self_attn"} | ({"cross_attention": "encoder_attn"} if side == "decoder" else {})
    points, module = {}, f"model.{side}"
    for sublayer, attention in attentions.items():
        points |= projections(sublayer, *(f"{attention}.{name}" for name in ("q_proj", "k_proj", "v_proj", "out_proj")))
    points |= feed_forward("fc1", "fc2")
    norms = {sublayer: f"{attention}_layer_norm" for sublayer, attention in attentions.items()}
    points |= add_norms(norms | {"feed_forward": "final_layer_norm"}, norm_first)
    embedding = {"token": out(f"{module}.embed_tokens"), "position": out(f"{module}.embed_positions")}
    if norm_of_embedding:
        norm = f"{module}.layernorm_embedding"
        embedding |= {"sum": into(norm), "normalized": out(norm)}
    else:
        embedding |= {"sum": into(f"{module}.layers.0")}
    return Stack(module, f"{module}.layers", attentions, points, embedding)


def _bart(
    model_class: str, norm_first: bool, norm_of_embedding: bool, first_position: Callable[[Any], int] = lambda _: 0
) -> Family:
    encoder, decoder = (_bart_stack(side, norm_first, norm_of_embedding) for side in ("encoder", "decoder"))
    return Family(model_class, encoder, decoder, first_position=first_position)


def _t5_stack(side: str) -> Stack:
    attentions = {"self_attention": "layer.0.SelfAttention"}
    norms = {"self_attention": "layer.0.layer_norm"}
    sums = {"self_attention_add_norm.sum": out("layer.0")}
    if side == "decoder":
        attentions["cross_attention"], norms["cross_attention"] = "layer.1.EncDecAttention", "layer.1.layer_norm"
        sums["cross_attention_add_norm.sum"] = out("layer.1")
    last = f"layer.{len(attentions)}"
    norms["feed_forward"], network = f"{last}.layer_norm", f"{last}.DenseReluDense"
    sums["feed_forward_add_norm.sum"] = out(last)
    points = {f"{sublayer}_add_norm.normalized": out(norm) for sublayer, norm in norms.items()} | sums
    for sublayer, attention in attentions.items():
        points |= projections(sublayer, *(f"{attention}.{name}" for name in "qkvo"))
    points |= feed_forward(f"{network}.wi|{network}.wi_1", f"{network}.wo", f"{network}.wi_0")
    embedding = {"token": out(f"{side}.embed_tokens"), "stream": into(f"{side}.block.0")}
    return Stack(side, f"{side}.block", attentions, points, embedding)


def _t5(model_class: str) -> Family:
    return Family(
        model_class,
        _t5_stack("encoder"),
        _t5_stack("decoder"),
        note="Positions are a bias on the scores (`position_bias`), computed in the first layer and used in all; scores are "
        "not divided.",
    )


# --- decoder alone -----------------------------------------------------------------------------------------------------------


def _gpt2() -> Family:
    points = joined("self_attention", "attn.c_proj") | feed_forward("mlp.c_fc", "mlp.c_proj")
    points |= add_norms({"self_attention": "ln_1", "feed_forward": "ln_2"}, norm_first=True)
    embedding = {"token": out("transformer.wte"), "position": out("transformer.wpe"), "sum": into("transformer.h.0")}
    stack = Stack("transformer", "transformer.h", {"self_attention": "attn"}, points, embedding)
    return Family("GPT2LMHeadModel", decoder=stack, note="Query, key and value come from one map (`attn.c_attn`).")


TURNED = {"rotary.cos": out("model.rotary_emb"), "rotary.sin": out("model.rotary_emb", item=1)}
ROTARY = "Positions turn queries and keys (`rotary.cos`, `rotary.sin`); nothing is added to the tokens."


def _llama(model_class: str, note: str = ROTARY) -> Family:
    points = projections("self_attention", *(f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "o_proj")))
    points |= feed_forward("mlp.up_proj", "mlp.down_proj", gate="mlp.gate_proj")
    points |= add_norms({"self_attention": "input_layernorm", "feed_forward": "post_attention_layernorm"}, norm_first=True)
    return Family(model_class, decoder=_llama_stack(points), other=TURNED, note=note)


def _llama_stack(points: Points) -> Stack:
    embedding = {"token": out("model.embed_tokens"), "stream": into("model.layers.0")}
    return Stack("model", "model.layers", {"self_attention": "self_attn"}, points, embedding)


def _gemma2() -> Family:
    llama = _llama("Gemma2ForCausalLM", f"{ROTARY} Each sub-layer has a norm before and one after it (`normalized_output`).")
    assert llama.decoder is not None
    norms = {"self_attention": "input_layernorm", "feed_forward": "pre_feedforward_layernorm"}
    points = dict(llama.decoder.points) | add_norms(norms, norm_first=True)
    points["self_attention_add_norm.normalized_output"] = out("post_attention_layernorm")
    points["feed_forward_add_norm.normalized_output"] = out("post_feedforward_layernorm")
    return Family(llama.model_class, decoder=_llama_stack(points), other=llama.other, note=llama.note)


def _qwen3() -> Family:
    llama = _llama("Qwen3ForCausalLM", f"{ROTARY} The queries and keys of each head are normed before that.")
    assert llama.decoder is not None
    norms = {f"self_attention.{name}.normalized": out(f"self_attn.{name[0]}_norm") for name in ("query", "key")}
    return Family(llama.model_class, decoder=_llama_stack({**llama.decoder.points, **norms}), other=TURNED, note=llama.note)


def _gemma3() -> Family:
    gemma2 = _gemma2()
    assert gemma2.decoder is not None
    norms = {f"self_attention.{name}.normalized": out(f"self_attn.{name[0]}_norm") for name in ("query", "key")}
    note = f"{gemma2.note} The queries and keys of each head are normed before they are turned."
    return Family("Gemma3ForCausalLM", decoder=_llama_stack({**gemma2.decoder.points, **norms}), note=note)


def _phi3() -> Family:
    points = joined("self_attention", "self_attn.o_proj")
    points |= {"feed_forward.activated": into("mlp.down_proj"), "feed_forward.output": out("mlp.down_proj")}
    points |= add_norms({"self_attention": "input_layernorm", "feed_forward": "post_attention_layernorm"}, norm_first=True)
    note = f"{ROTARY} Query, key and value come from one map (`self_attn.qkv_proj`), hidden layer and gate from another."
    return Family("Phi3ForCausalLM", decoder=_llama_stack(points), other=TURNED, note=note)


def _gpt_neox(config: Any) -> Family:
    points = joined("self_attention", "attention.dense") | feed_forward("mlp.dense_h_to_4h", "mlp.dense_4h_to_h")
    note = "Positions turn queries and keys. Query, key and value come from one map (`attention.query_key_value`)."
    if config.use_parallel_residual:
        points |= {"self_attention_add_norm.normalized": out("input_layernorm"), "feed_forward_add_norm.sum": out("")}
        points["feed_forward_add_norm.normalized"] = out("post_attention_layernorm")
        note += " Attention and feed-forward network read the same stream, and both are added at once."
    else:
        points |= add_norms({"self_attention": "input_layernorm", "feed_forward": "post_attention_layernorm"}, norm_first=True)
    embedding = {"token": out("gpt_neox.embed_in"), "stream": into("gpt_neox.layers.0")}
    stack = Stack("gpt_neox", "gpt_neox.layers", {"self_attention": "attention"}, points, embedding)
    turned = {"rotary.cos": out("gpt_neox.rotary_emb"), "rotary.sin": out("gpt_neox.rotary_emb", item=1)}
    return Family("GPTNeoXForCausalLM", decoder=stack, other=turned, note=note)


def _phi() -> Family:
    points = projections("self_attention", *(f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "dense")))
    points |= feed_forward("mlp.fc1", "mlp.fc2")
    points |= {"self_attention_add_norm.normalized": out("input_layernorm"), "feed_forward_add_norm.sum": out("")}
    note = f"{ROTARY} Attention and feed-forward network read the same norm, and both are added at once."
    return Family("PhiForCausalLM", decoder=_llama_stack(points), other=TURNED, note=note)


def _opt(config: Any) -> Family:
    points = projections("self_attention", *(f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "out_proj")))
    points |= feed_forward("fc1", "fc2")
    norms = {"self_attention": "self_attn_layer_norm", "feed_forward": "final_layer_norm"}
    points |= add_norms(norms, config.do_layer_norm_before)
    stack = "model.decoder"
    # If the rows of the table are narrower than the residual stream, a linear map widens them first.
    embedding = {"token": out(f"{stack}.project_in|{stack}.embed_tokens"), "position": out(f"{stack}.embed_positions")}
    embedding["sum"] = into(f"{stack}.layers.0")
    return Family("OPTForCausalLM", decoder=Stack(stack, f"{stack}.layers", {"self_attention": "self_attn"}, points, embedding))


# --- encoder alone -----------------------------------------------------------------------------------------------------------


def _bert(model_class: str, base: str, first_position: Callable[[Any], int] = lambda _: 0) -> Family:
    attention = "attention.self"
    points = projections(
        "self_attention", f"{attention}.query", f"{attention}.key", f"{attention}.value", "attention.output.dense"
    )
    points |= feed_forward("intermediate.dense", "output.dense")
    norms = {"self_attention": "attention.output.LayerNorm", "feed_forward": "output.LayerNorm"}
    points |= add_norms(norms, norm_first=False)
    embeddings = f"{base}.embeddings"
    embedding = {
        "token": out(f"{embeddings}.word_embeddings"),
        "token_type": out(f"{embeddings}.token_type_embeddings"),
        "position": out(f"{embeddings}.position_embeddings"),
        "sum": into(f"{embeddings}.LayerNorm"),
        "normalized": out(f"{embeddings}.LayerNorm"),
        "stream": out(f"{base}.embeddings_project"),  # in an ELECTRA whose tables are narrower than its layers
    }
    stack = Stack(f"{base}.encoder", f"{base}.encoder.layer", {"self_attention": attention}, points, embedding)
    return Family(model_class, stack, first_position=first_position)


def _distilbert() -> Family:
    points = projections("self_attention", *(f"attention.{name}" for name in ("q_lin", "k_lin", "v_lin", "out_lin")))
    points |= feed_forward("ffn.lin1", "ffn.lin2")
    points |= add_norms({"self_attention": "sa_layer_norm", "feed_forward": "output_layer_norm"}, norm_first=False)
    base = "distilbert.embeddings"
    embedding = {
        "token": out(f"{base}.word_embeddings"),
        "position": out(f"{base}.position_embeddings"),
        "sum": into(f"{base}.LayerNorm"),
        "normalized": out(f"{base}.LayerNorm"),
    }
    stack = "distilbert.transformer"
    return Family("DistilBertForMaskedLM", Stack(stack, f"{stack}.layer", {"self_attention": "attention"}, points, embedding))


def _modernbert() -> Family:
    points = joined("self_attention", "attn.Wo") | feed_forward("mlp.Wi", "mlp.Wo")
    points |= add_norms({"self_attention": "attn_norm", "feed_forward": "mlp_norm"}, norm_first=True)
    embedding = {"token": out("model.embeddings.tok_embeddings"), "normalized": out("model.embeddings.norm")}
    return Family(
        "ModernBertForMaskedLM",
        Stack("model", "model.layers", {"self_attention": "attn"}, points, embedding),
        note="Positions turn queries and keys. Query, key and value come from one map (`attn.Wqkv`), and `feed_forward.hidden` "
        "holds the hidden layer and its gate, one after the other.",
    )


# `model_type` in config.json → function that returns the family of a configuration.
FAMILIES: dict[str, Callable[[Any], Family]] = {
    "marian": lambda _: _bart("MarianMTModel", norm_first=False, norm_of_embedding=False),
    "bart": lambda _: _bart("BartForConditionalGeneration", norm_first=False, norm_of_embedding=True),
    "mbart": lambda _: _bart("MBartForConditionalGeneration", norm_first=True, norm_of_embedding=True),
    # M2M-100's position table has two rows more than `max_position_embeddings`. The first token reads the row after the id of
    # padding.
    "m2m_100": lambda _: _bart("M2M100ForConditionalGeneration", True, False, lambda config: max(0, config.pad_token_id - 1)),
    "blenderbot": lambda _: _bart("BlenderbotForConditionalGeneration", norm_first=True, norm_of_embedding=False),
    "pegasus": lambda _: _bart("PegasusForConditionalGeneration", norm_first=True, norm_of_embedding=False),
    "t5": lambda _: _t5("T5ForConditionalGeneration"),
    "mt5": lambda _: _t5("MT5ForConditionalGeneration"),
    "gpt2": lambda _: _gpt2(),
    "llama": lambda _: _llama("LlamaForCausalLM"),
    "mistral": lambda _: _llama("MistralForCausalLM"),
    "qwen2": lambda _: _llama("Qwen2ForCausalLM"),
    "qwen3": lambda _: _qwen3(),
    "gemma": lambda _: _llama("GemmaForCausalLM"),
    "gemma2": lambda _: _gemma2(),
    "gemma3_text": lambda _: _gemma3(),
    "granite": lambda _: _llama("GraniteForCausalLM", f"{ROTARY} What a sub-layer adds is multiplied before it is added."),
    "gpt_neox": _gpt_neox,
    "phi3": lambda _: _phi3(),
    "smollm3": lambda _: _llama("SmolLM3ForCausalLM", f"{ROTARY} Some layers turn nothing."),
    "phi": lambda _: _phi(),
    "opt": _opt,
    "bert": lambda _: _bert("BertForMaskedLM", "bert"),
    "roberta": lambda _: _bert("RobertaForMaskedLM", "roberta", lambda config: config.pad_token_id + 1),
    "xlm-roberta": lambda _: _bert("XLMRobertaForMaskedLM", "roberta", lambda config: config.pad_token_id + 1),
    "electra": lambda _: _bert("ElectraForMaskedLM", "electra"),
    "distilbert": lambda _: _distilbert(),
    "modernbert": lambda _: _modernbert(),
}
