"""Tests of reading, answering, writing and editing with models of Hugging Face."""

import json
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import LONG, SHORT, folder_of, opened, reference, save_model, save_tokenizer
from transformer import draw
from transformer.analysis.word_alignment import head_links
from transformer.assets import assets
from transformer.errors import CheckpointError, ConfigError, InputError, PathError
from transformer.huggingface.hf_limits import MODEL_TOKENS, TRACE_MEGABYTES
from transformer.opening import open_model
from transformer.pipeline.decoding.generate import generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam, Sample
from transformer.pipeline.pipeline import Agreement, Pipeline
from transformer.pipeline.protocol import TextPipeline
from transformer.text.tokens import Tokens
from transformer.tracing.interventions import Ablate, Block, Patch, Replace, Scale

WRITERS = ("marian", "t5", "gpt2", "llama", "mistral")


WITHOUT_PACKAGES = """
from pathlib import Path
from transformer import Pipeline, errors, opening

reverse = Pipeline.load("reverse")
for use in (lambda: opening.open_model(Path("assets")), lambda: opening.save_huggingface(reverse, "anywhere")):
    try:
        use()
    except errors.CheckpointError as error:
        print(error)
"""


@pytest.mark.slow
def test_without_the_packages_the_error_says_how_to_install_them(tmp_path: Path) -> None:
    missing = "raise ModuleNotFoundError(\"No module named 'transformers'\", name='transformers')"
    (tmp_path / "transformers.py").write_text(missing)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGES],
        capture_output=True,
        text=True,
        check=True,
        cwd=assets().parent,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    expected = "A model of Hugging Face needs the package transformers; run `pip install -r requirements-huggingface.txt`."
    assert done.stdout.splitlines() == [expected, expected]


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Without the checks of types, which only tests have: the values of a test may have another type."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def test_words_are_linked_in_a_model_whose_source_begins_with_a_word() -> None:
    trace = opened("t5").trace("the cat sleeps .", "the dog sleeps .")
    source, target = (trace.words_of(side)[0] for side in ("source", "target"))
    keys, queries = (sorted({word for word in words if word is not None}) for words in (source, target))
    weights = trace.head("cross", 0, 0).numpy()
    expected = set()
    for word in queries:
        row = weights[[place - 1 for place, of in enumerate(target) if of == word]].mean(0)
        sums = [sum(row[place] for place, of in enumerate(source) if of == key) for key in keys]
        expected.add((int(np.argmax(sums)), word))
    assert head_links(trace, 0, 0) == expected
    with pytest.raises(InputError, match="The words of one sentence are linked; this trace has 2"):
        head_links(opened("t5").trace(["the cat", "the dog"], ["the cat", "the dog"]), 0, 0)


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart"])
def test_the_embedding_of_a_model_with_positions_for_each_text_is_drawn(name: str) -> None:
    trace = opened(name).trace(SHORT)
    drawn = draw.embedding(trace, "target" if name == "gpt2" else "source")
    assert len(drawn.numbers) % len(trace.tokens_of(trace.sides[0])[0]) == 0


@pytest.mark.usefixtures("unchecked")
def test_both_kinds_of_pipeline_refuse_the_same_values_in_the_same_sentences() -> None:
    ours = Pipeline.load("reverse")
    wrong: dict[str, Callable[[TextPipeline], object]] = {
        "takes a list of texts, not the text": lambda pipeline: pipeline.answers("the cat sleeps ."),
        r"There is no text; at least one is needed\.$": lambda pipeline: pipeline.answers([]),
        "There is no text; at least": lambda pipeline: pipeline.trace([]),
        "The trace must be a Trace": lambda pipeline: pipeline.check(None),
        "A token id must be a whole number": lambda pipeline: pipeline.batch([[1.9, 500]], "source"),
        "A row of the batch is empty": lambda pipeline: pipeline.batch([[]], "source"),
        "Token ids must be a list": lambda pipeline: pipeline.batch([1, 2], "source"),
        "500": lambda pipeline: pipeline.batch([[500]], "source"),
        "There is nothing to read": lambda pipeline: pipeline.encode(""),
    }
    for sentence, call in wrong.items():
        for pipeline in (ours, *map(opened, ("gpt2", "bert", "marian"))):
            with pytest.raises(InputError, match=sentence):
                call(pipeline)
    assert opened("bert").encode("<mask>").ids
    assert torch.equal(opened("gpt2").batch(torch.tensor([[5, 6]]), "source"), torch.tensor([[5, 6]]))


def test_a_trace_of_another_model_is_not_checked() -> None:
    gpt2, bert = opened("gpt2"), opened("bert")
    with pytest.raises(InputError, match="another kind of model: it has target; this model reads source"):
        bert.check(gpt2.trace("the cat sleeps ."))
    with pytest.raises(InputError, match="counts the work of our own network"):
        draw.growth(gpt2.trace("the cat sleeps ."))


def test_both_kinds_of_pipeline_fit_one_protocol() -> None:
    for pipeline in (Pipeline.load("reverse"), opened("marian"), opened("gpt2"), opened("bert")):
        assert isinstance(pipeline, TextPipeline)
        for side in ("source", "target"):
            assert isinstance(pipeline.vocabulary(side), Tokens)
            unk = pipeline.vocabulary(side).unk
            assert (unk in pipeline.vocabulary(side).specials) == (unk >= 0)
        assert pipeline.vocabulary("source").tokens_of(pipeline.encode("the").ids) == pipeline.encode("the").tokens


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("cached", [True, False])
def test_greedy_answers_are_those_of_generate(name: str, cached: bool) -> None:
    pipeline = opened(name)
    encoding = pipeline.encode(SHORT)
    model: Any = reference(name)
    model.generation_config.forced_eos_token_id = None  # Marian's default writes id 0 at the limit of tokens
    start = {"decoder_start_token_id": model.config.decoder_start_token_id} if pipeline.network.crossed else {}
    max_new_tokens = 2 * len(encoding.ids) + 8 if pipeline.network.crossed else 20
    suppress = [[0]] if pipeline.network.crossed else None
    expected = model.generate(
        torch.tensor([encoding.ids]),
        max_new_tokens=max_new_tokens,
        do_sample=False,
        bad_words_ids=suppress,
        pad_token_id=0,
        **start,
    )[0].tolist()
    expected = expected[1 if pipeline.network.crossed else len(encoding.ids) :]
    generation = Generation.of(pipeline.generate(SHORT, cached=cached))
    assert [*generation.ids()] == [index for index in expected if index != 2]
    assert pipeline.answers([SHORT])[0].ids == generation.ids()
    assert pipeline.answer(SHORT) == pipeline.target_vocabulary.text(generation.ids())
    assert pipeline.answers([SHORT], max_new_tokens=2)[0].ids == generation.ids()[:2]
    with pytest.raises(ConfigError, match="max_new_tokens"):
        pipeline.answers([SHORT], max_new_tokens=0)
    assert repr(pipeline).startswith("<HuggingFacePipeline")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["marian", "gpt2", "mistral"])
def test_beam_search_and_sampling_are_the_same_with_a_cache(name: str) -> None:
    pipeline = opened(name)
    for method in (Beam(width=3), Sample(seed=4)):
        with_cache, without_cache = (Generation.of(pipeline.generate(SHORT, method, cached=cached)) for cached in (True, False))
        assert [made[:5] for made in with_cache.hypotheses] == [made[:5] for made in without_cache.hypotheses]
        for one, other in zip(with_cache.steps, without_cache.steps, strict=True):
            assert one.own.logits.allclose(other.own.logits, atol=1e-5)
            assert one.attention("decoder").allclose(other.attention("decoder"), atol=1e-6)


def without_end(name: str, folder: Path) -> Path:
    """The folder of a model that never ends a text."""
    shutil.copytree(folder_of(name), folder, dirs_exist_ok=True)
    for file in ("config.json", "generation_config.json"):
        values = json.loads((folder / file).read_text()) | {"eos_token_id": None, "forced_eos_token_id": None}
        (folder / file).write_text(json.dumps(values))
    return folder


def beams(model: Any, pipeline: Any, width: int, penalty: float, **settings: Any) -> tuple[list[int], float]:
    """The answer that `generate` writes by beam search, and its score. Its limit is one token higher than ours, because our
    score of an answer that does not end includes the next token."""
    ids = pipeline.encode(SHORT).ids
    max_new_tokens = 2 * len(ids) + 8 if pipeline.crossed else 20
    settings |= {"bad_words_ids": [[0]] if pipeline.crossed else None, "pad_token_id": 0, "return_dict_in_generate": True}
    settings |= {"output_scores": True, "do_sample": False, "max_new_tokens": max_new_tokens + 1}
    output = model.generate(torch.tensor([ids]), num_beams=width, length_penalty=penalty, **settings)
    generation = output.sequences[0].tolist()[1 if pipeline.crossed else len(ids) :]
    return [index for index in generation[: max_new_tokens + (2 in generation)] if index != 2], float(
        output.sequences_scores[0]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_beam_search_is_that_of_generate(name: str, tmp_path: Path) -> None:
    pipeline, model = opened(name), reference(name)
    model.generation_config.forced_eos_token_id = None
    for early in (False, True, "never"):  # without a length penalty, no rule for stopping early changes the best answer
        ids, score = beams(model, pipeline, 4, 0.0, early_stopping=early)
        generation = Generation.of(pipeline.generate(SHORT, Beam(width=4)))
        assert [*generation.ids()] == ids
        assert generation.best.score == pytest.approx(score, abs=1e-3)
    endless: Any = open_model(without_end(name, tmp_path))
    for penalty in (0.0, 1.0):  # if no answer ends, both rank the same hypotheses
        ids, score = beams(model, endless, 3, penalty, eos_token_id=None)
        generation = Generation.of(endless.generate(SHORT, Beam(width=3, length_penalty=penalty)))
        assert ([*generation.ids()], generation.ended) == (ids, False)
        assert generation.best.score == pytest.approx(score, abs=1e-3)


LONGROPE = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.1], "long_factor": [4.0, 9.0]}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", ["phi3", "llama", "gemma3_text"])
def test_longrope_is_limited_to_positions_that_turn_alike_in_all_texts(name: str, tmp_path: Path) -> None:
    """The angles of longer texts are stored on the module, which threads share, and they do not fit cached keys."""
    rule: dict[str, Any] = {**LONGROPE, "factor": 4.0, "original_max_position_embeddings": 12}
    if name == "gemma3_text":
        rule |= {factor: 2 * rule[factor] for factor in ("short_factor", "long_factor")}  # its heads are twice as wide
        rule = {"sliding_attention": rule, "full_attention": {"rope_type": "default", "rope_theta": 1e4}}
    changes = {"original_max_position_embeddings": 12} if name == "phi3" else {}
    save_model(name, tmp_path, rope_parameters=rule, **changes)
    save_tokenizer(tmp_path, ends=False)
    pipeline: Any = open_model(tmp_path)
    assert "It reads up to 12 tokens" in pipeline.note
    assert "longrope" not in opened(name).note
    with pytest.raises(InputError, match="12 tokens; this model reads up to 11"):
        pipeline.encode("cat " * 12)
    with_cache, without_cache = (Generation.of(pipeline.generate(SHORT, cached=cached)) for cached in (True, False))
    assert len(with_cache.steps[-1].input_ids[0]) == 12
    for one, other in zip(with_cache.steps, without_cache.steps, strict=True):
        assert one.own.logits.allclose(other.own.logits, atol=1e-5)
    assert pipeline.check(pipeline.trace(SHORT)).equal


@pytest.mark.parametrize(
    ("name", "changes"), [("gemma3_text", {"use_bidirectional_attention": True}), ("llama", {"is_causal": False})]
)
def test_a_decoder_that_attends_to_later_tokens_is_refused(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    save_model(name, tmp_path, **changes)
    save_tokenizer(tmp_path, ends=False)
    with pytest.raises(CheckpointError, match=f"The decoder of this model of the family '{name}' attends to later tokens"):
        open_model(tmp_path)


def test_keys_are_not_cached_if_that_changes_the_logits(tmp_path: Path) -> None:
    """M2M-100 counts only positions of ids that are not padding. With a cache, the count is wrong for a model that starts with
    padding."""
    save_model("m2m_100", tmp_path, decoder_start_token_id=1, pad_token_id=1)
    save_tokenizer(tmp_path, pad=1)
    pipeline: Any = open_model(tmp_path)
    assert pipeline.network.new_cache() is None
    steps = Generation.of(pipeline.generate(SHORT)).steps
    assert pipeline.trace(SHORT).logits[0].allclose(torch.cat([step.own.logits for step in steps]), atol=1e-5)
    assert all(opened(name).network.keeps for name in WRITERS)


@pytest.mark.slow
def test_several_texts_are_answered_as_each_alone() -> None:
    for name in ("marian", "llama"):
        pipeline = opened(name)
        together, alone = pipeline.answers([SHORT, LONG]), [pipeline.answers([text])[0] for text in (SHORT, LONG)]
        shortest = min(len(answer.ids) for answer in alone)
        assert [answer.ids[:shortest] for answer in together] == [answer.ids[:shortest] for answer in alone]
    edit = Ablate("decoder.layers.0.self_attention", heads=(0,), items=(1,))
    with pytest.raises(InputError, match="same number of tokens"):
        opened("llama").answers([SHORT, LONG], [edit])


def test_an_encoder_alone_fills_in_masks() -> None:
    pipeline = opened("bert")
    encoding = pipeline.encode(LONG)
    place = encoding.tokens.index("<mask>")
    with torch.inference_mode():
        best = int(reference("bert")(torch.tensor([encoding.ids])).logits[0, place].argmax())
    (answer,) = pipeline.answers([LONG])
    assert answer.ids == (best,)
    assert answer.text == LONG.replace("<mask>", pipeline.source_vocabulary.tokens[best])
    with pytest.raises(InputError, match="fills in <mask>; your text has none"):
        pipeline.answer(SHORT)
    with pytest.raises(InputError, match="writes no answer"):
        pipeline.generate(LONG)
    with pytest.raises(InputError, match="has no target"):
        pipeline.trace(LONG, "the cat .")
    trace = pipeline.trace(LONG)
    assert (trace.kinds, trace.target_ids) == (("encoder",), ())
    assert trace["source_mask"].values.all()


def test_a_decoder_alone_traces_what_it_reads_and_writes() -> None:
    pipeline = opened("llama")
    alone, (answer,) = pipeline.trace(SHORT, ""), pipeline.answers([SHORT])
    assert alone.target_tokens == (("the", "cat", "sleeps", "."),)
    assert (alone.kinds, alone.source_ids) == (("decoder",), ())
    whole = pipeline.trace(SHORT)
    assert whole.target_ids == ((*pipeline.encode(SHORT).ids, *answer.ids),)
    assert pipeline.trace(SHORT, "a dog").target_tokens == (("the", "cat", "sleeps", ".", "a", "dog"),)
    assert alone.masks.target[0, 0].equal(torch.ones(4, 4, dtype=torch.bool).tril())


def test_texts_are_read_as_pieces_with_their_words() -> None:
    encoding = opened("marian").encode("the zebra sleeps .")
    assert encoding.tokens == ("the", "<unk>", "sleeps", ".", "</s>")
    assert [unknown.token for unknown in encoding.unknown] == ["zebra"]
    assert encoding.words == (0, None, 1, 2, None)
    target = opened("marian").encode("a dog", "target")
    assert (target.tokens, target.words) == (("<s>", "a", "dog"), (None, 0, 1))
    with pytest.raises(InputError, match="type a few words"):
        opened("gpt2").encode("")
    with pytest.raises(InputError, match="71 tokens; this model reads up to 64"):
        opened("marian").encode("cat " * 70)
    with pytest.raises(InputError, match="characters"):
        opened("marian").encode("a" * 100_000)
    with pytest.raises(InputError, match="read as another side or by another model"):
        opened("marian").trace(target)


def test_the_mask_of_a_layer_has_its_sliding_window() -> None:
    trace = opened("mistral").trace("the old dog sees a big house .", "")
    near = torch.ones(8, 8, dtype=torch.bool).tril().triu(-3)  # a token and the three before it
    for layer in range(2):
        assert trace.used_masks[f"decoder.layers.{layer}.self_attention"][0, 0].equal(near)
    assert trace.allowed("decoder")[0, 0, 0].equal(near)
    assert (trace.attention("decoder")[..., ~near] == 0).all()


# --- edits ------------------------------------------------------------------------------------------------------------------


def test_an_edit_of_the_residual_stream_is_kept_in_later_sums() -> None:
    """In a pre-norm layer, the tensor that the next norm reads is also what the layer adds to."""
    for name, attention in (("gpt2", "transformer.h.0.attn"), ("llama", "model.layers.0.self_attn")):
        pipeline, model = opened(name), reference(name)
        path = "decoder.layers.0.self_attention_add_norm.sum"
        plain = pipeline.trace(SHORT, "")
        edited = pipeline.trace(SHORT, "", [Scale(path, factor=0.5)])
        before: dict[str, Any] = {}
        layer = model.get_submodule(attention.rpartition(".")[0])
        layer.register_forward_pre_hook(lambda _module, inputs, kept=before: kept.update(stream=inputs[0]))
        # Half of the sum of stream and output, minus the stream, because the layer adds the stream afterwards.
        model.get_submodule(attention).register_forward_hook(
            lambda _module, _inputs, result, kept=before: (
                0.5 * (kept["stream"] + result[0]) - kept["stream"],
                *result[1:],
            )
        )
        with torch.inference_mode():
            expected = model(torch.tensor(plain.target_ids)).logits
        assert edited.logits.allclose(expected, atol=1e-5)
        assert edited[path].values.allclose(0.5 * plain[path].values)
        after = edited["decoder.layers.0.feed_forward_add_norm.sum"].values
        assert after.allclose(edited[path].values + edited["decoder.layers.0.feed_forward.output"].values, atol=1e-6)
        assert pipeline.check(plain).equal


def test_a_blocked_edge_has_no_weight_and_the_others_share_it() -> None:
    for name, attention in (("bert", "encoder.layers.0.self_attention"), ("t5", "decoder.layers.1.cross_attention")):
        pipeline = opened(name)
        target = None if name == "bert" else "a dog runs ."
        plain = pipeline.trace(LONG, target)[attention].values
        trace = pipeline.trace(LONG, target, [Block(attention, edges=((2, 1), (2, 3)), heads=(1,))])
        weights = trace[attention].values
        assert (weights[0, 1, 2, [1, 3]] == 0).all()
        assert weights.sum(-1).allclose(torch.ones(1))
        rest = [0, 2, *range(4, 9)]
        assert weights[0, 1, 2, rest].allclose(plain[0, 1, 2, rest] / plain[0, 1, 2, rest].sum(), atol=1e-6)
        assert weights[0, 0].equal(plain[0, 0])
        assert not trace.used_masks[attention][0, 1, 2, 1]


def test_no_edit_of_scores_gives_weight_to_padding() -> None:
    attention = "encoder.layers.0.self_attention"
    for edit in (Scale(f"{attention}.masked_scores", factor=-3.0), Patch(f"{attention}.scores", values=1e9)):
        trace = opened("bart").trace([SHORT, LONG], ["a dog"] * 2, [edit])
        assert (trace[attention].values[0, :, :, 5:] == 0).all()
        assert trace[attention].values.sum(-1).allclose(torch.ones(1))


def test_a_tensor_can_replace_another() -> None:
    pipeline = opened("gpt2")
    one, other = pipeline.trace("the cat sleeps .", ""), pipeline.trace("the dog eats .", "")
    path = "decoder.layers.1.feed_forward_add_norm.sum"
    patched = pipeline.trace("the cat sleeps .", "", [Patch(path, values=other[path].values)])
    assert patched.logits.equal(other.logits)
    same = pipeline.trace("the cat sleeps .", "", [Patch(path, values=one[path].values)])
    assert same.logits.equal(one.logits)
    attention = "decoder.layers.1.self_attention"
    replaced = pipeline.trace("the cat sleeps .", "", [Replace(f"{attention}_add_norm.sum", by=f"{attention}.output")])
    assert replaced[f"{attention}_add_norm.sum"].values.equal(one[f"{attention}.output"].values)
    uniform = pipeline.trace("the cat sleeps .", "", [Ablate(attention, to="uniform")])
    assert uniform[attention].values[0, 0].allclose(torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None])


def test_key_and_value_heads_of_groups_have_their_own_numbers() -> None:
    pipeline, model = opened("llama"), reference("llama")
    path = "decoder.layers.0.self_attention.value.heads"
    trace = pipeline.trace(SHORT, "", [Ablate(path, heads=(1,))])
    assert trace[path].axes == ("batch", "key_head", "key", "d_head")
    assert trace[path].shape == (1, 2, 4, 4)

    def silence(_module: Any, _inputs: Any, result: torch.Tensor) -> torch.Tensor:
        changed = result.clone()
        changed[..., 4:8] = 0
        return changed

    model.get_submodule("model.layers.0.self_attn.v_proj").register_forward_hook(silence)
    with torch.inference_mode():
        assert trace.logits.allclose(model(torch.tensor(trace.target_ids)).logits, atol=1e-6)
    with pytest.raises(PathError, match="head is 2; allowed are 0 to 1"):
        pipeline.trace(SHORT, "", [Ablate(path, heads=(2,))])
    with pytest.raises(PathError, match="head is 4; allowed are 0 to 3"):
        pipeline.trace(SHORT, "", [Ablate("decoder.layers.0.self_attention", heads=(4,))])
    with pytest.raises(PathError, match=r"no such tap as 'decoder.layers.2.self_attention'; nearest are decoder"):
        pipeline.trace(SHORT, "", [Ablate("decoder.layers.2.self_attention")])


def test_other_modules_are_recorded_and_edited_by_their_own_names() -> None:
    pipeline = opened("gpt2")
    path = "transformer.h.0.attn.c_attn"
    assert pipeline.trace(SHORT, "")[path].axes == ("batch", "target", "feature")
    silenced = pipeline.trace(SHORT, "", [Scale(path, factor=0.0)])
    assert (silenced["decoder.layers.0.self_attention.value.heads"].values == 0).all()


def test_threads_share_a_model_and_leave_nothing_on_it() -> None:
    pipeline = opened("bart")
    plain = pipeline.trace(SHORT, "a dog runs .")
    edit = Ablate("decoder.layers.0.cross_attention", heads=(1,))
    edited = pipeline.trace(SHORT, "a dog runs .", [edit]).logits
    results: dict[int, bool] = {}

    def run(number: int) -> None:
        edits = [edit] if number % 2 else []
        traces = [pipeline.trace(SHORT, "a dog runs .", edits) for _ in range(5)]
        results[number] = all(trace.logits.equal(edited if edits else plain.logits) for trace in traces)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), True)
    assert pipeline.network.taps["logits"].taps is pipeline.network.taps
    assert pipeline.check(plain) == Agreement(equal=True, difference=0.0)
    with torch.inference_mode():  # without a scope the model computes the same logits
        assert pipeline.network(torch.tensor(plain.source_ids), torch.tensor(plain.target_ids)).equal(plain.logits)


@pytest.mark.slow
def test_a_model_with_many_heads_reads_fewer_tokens(tmp_path: Path) -> None:
    save_model("gpt2", tmp_path, n_layer=4, n_head=500, n_embd=500, n_inner=1, n_positions=512)
    save_tokenizer(tmp_path, ends=False)
    pipeline = open_model(tmp_path)  # 8,000 bytes for each query and key
    assert 500 == math.isqrt(TRACE_MEGABYTES * 1_000_000 // 8_000) < MODEL_TOKENS
    assert pipeline.card.longest == 500 - 1
    with pytest.raises(InputError, match="reads up to 499"):
        pipeline.encode("the " * 500)


@pytest.mark.parametrize("name", WRITERS)
def test_ids_outside_of_the_table_are_refused_before_the_first_step(name: str) -> None:
    network, wrong = opened(name).network, torch.tensor([[10**6]])
    crossed = torch.tensor([[1]]) if network.crossed else None
    for call in (
        lambda: network(wrong if network.crossed else None, torch.tensor([[1]]) if network.crossed else wrong),
        lambda: generate(network, crossed, 0, 1, 3, prompt=wrong),
        lambda: generate(network, crossed, 0, 1, 3, prompt=torch.tensor([[1]]), suppress=(10**6,)),
    ):
        with pytest.raises(InputError, match=r"There is no .*token id 1000000"):
            call()
