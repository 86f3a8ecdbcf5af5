"""Tests of tokenizers of the kinds that real models have, trained here on a few sentences."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

import sentencepiece
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2TokenizerFast

from tests.transformer.huggingface.tiny import folder_of, save_model
from transformer.analysis.word_trace import WordTrace, in_pieces
from transformer.errors import CheckpointError
from transformer.opening import open_model
from transformer.text.pieces import readable

SENTENCES = [
    "the cat sleeps in the big house .",
    "an old dog sees the small cat .",
    "le chat dort dans la grande maison .",
] * 20


def marian_tokenizer(folder: Path, **settings: Any) -> list[str]:
    """Write the files of a Marian tokenizer, and return its pieces."""
    folder.mkdir()
    for side in ("source", "target"):
        pieces = sentencepiece_model(folder / f"{side}.spm")
    words = ["</s>", "<unk>", *pieces, "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(words)}))
    names = {"source_lang": "en", "target_lang": "fr", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer", **names, **settings}))
    return words


def sentencepiece_model(path: Path) -> list[str]:
    """Write a model of SentencePiece, trained on the sentences, and return its pieces without the special ones."""
    corpus = path.parent.parent / "corpus.txt"
    corpus.write_text("\n".join(SENTENCES))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(corpus), vocab_size=40, minloglevel=2, hard_vocab_limit=False
    )
    Path(f"{corpus}.model").rename(path)
    pieces = [line.split("\t")[0] for line in Path(f"{corpus}.vocab").read_text().splitlines()]
    return [piece for piece in pieces if piece not in ("<s>", "</s>", "<unk>")]


@pytest.mark.filterwarnings("ignore:Recommended")  # a package for the punctuation of other alphabets
def test_marian_reads_both_sides_with_their_own_sentencepiece_models(tmp_path: Path) -> None:
    folder = tmp_path / "marian"
    words = marian_tokenizer(folder)
    pad = len(words) - 1
    # As in the published models, an answer starts with padding.
    save_model(
        "marian", folder, vocab_size=len(words), pad_token_id=pad, eos_token_id=0, bos_token_id=0, decoder_start_token_id=pad
    )
    pipeline: Any = open_model(folder)
    encoding = pipeline.encode("the cat sleeps .")
    assert "".join(encoding.tokens) == "▁the▁cat▁sleeps▁.</s>"
    target = pipeline.encode("le chat dort .", "target")
    assert target.tokens[0] == "<pad>"
    assert "".join(target.tokens[1:]) == "▁le▁chat▁dort▁."
    assert pipeline.target_vocabulary.text(target.ids) == "le chat dort ."
    trace = pipeline.trace(["the cat sleeps .", "the cat"], ["le chat dort .", "le chat"])
    assert trace.masks.target[1, 0, :, 0].all()  # the first padding token is the start, which may be attended to
    assert not trace.masks.target[1, 0, -1, -1]
    assert pipeline.check(trace).equal


@pytest.mark.filterwarnings("ignore:Recommended")
def test_a_vocabulary_for_each_side_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "marian"
    words = marian_tokenizer(folder, separate_vocabs=True)
    (folder / "target_vocab.json").write_text((folder / "vocab.json").read_text())
    save_model("marian", folder, vocab_size=len(words))
    with pytest.raises(CheckpointError, match="has a vocabulary for each side"):
        open_model(folder)


def of_many_languages(folder: Path) -> Any:
    """A tiny M2M-100 that reads English and writes French."""
    folder.mkdir()
    words = ["<s>", "<pad>", "</s>", "<unk>", *sentencepiece_model(folder / "sentencepiece.bpe.model")]
    words += [f"w{index}" for index in range(100)]
    (folder / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(words)}))
    save_model("m2m_100", folder, vocab_size=len(words) + 108, pad_token_id=1, bos_token_id=0)
    names = {"tokenizer_class": "M2M100Tokenizer", "src_lang": "en", "tgt_lang": "fr"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    return open_model(folder)


def test_codes_of_languages_are_special_tokens_with_their_names(tmp_path: Path) -> None:
    pipeline = of_many_languages(tmp_path / "m2m")
    encoding = pipeline.encode("the cat")
    assert (encoding.tokens[0], encoding.words[0], encoding.typed[0]) == ("__en__", None, encoding.tokens[1])
    assert pipeline.encode("le chat", "target").tokens[1] == "__fr__"
    assert pipeline.source_vocabulary.text(encoding.ids) == "the cat"
    assert pipeline.check(pipeline.trace("the cat", "le chat")).equal


def test_a_target_is_read_as_a_target_while_another_thread_reads_a_source(tmp_path: Path) -> None:
    pipeline = of_many_languages(tmp_path / "m2m")
    split, inside, go_on = pipeline.tokenizer.tokenize, threading.Event(), threading.Event()

    def slow(text: str, **settings: Any) -> list[str]:
        if text == "le chat":
            inside.set()
            go_on.wait(5)
        return split(text, **settings)

    pipeline.tokenizer.tokenize = slow
    with ThreadPoolExecutor() as pool:
        target = pool.submit(pipeline.encode, "le chat", "target")
        inside.wait(5)
        source = pool.submit(pipeline.encode, "the cat")
        wait([source], 0.3)
        go_on.set()
    assert (source.result().tokens[0], target.result().tokens[1]) == ("__en__", "__fr__")


def test_pieces_of_bytes_are_written_as_letters(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folder_of("gpt2"), tmp_path / "gpt2"))
    for path in folder.glob("tokenizer*"):
        path.unlink()
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([*SENTENCES, "déjà vu"], vocab_size=300, show_progress=False)
    trained.save_model(str(folder))
    tokenizer = GPT2TokenizerFast(vocab=str(folder / "vocab.json"), merges=str(folder / "merges.txt"))
    tokenizer.save_pretrained(folder)
    save_model("gpt2", folder, vocab_size=len(tokenizer))
    pipeline: Any = open_model(folder)
    encoding = pipeline.encode("the cat déjà")
    assert encoding.tokens[:2] == ("the", "▁cat")
    assert encoding.words[:2] == (0, 1)
    assert pipeline.source_vocabulary.text(encoding.ids) == "the cat déjà"
    trace = pipeline.trace("the cat sleeps, déjà.", "")
    assert in_pieces(trace)
    joined = WordTrace.of(trace)
    assert joined is WordTrace.of(trace)
    assert not in_pieces(joined)
    assert joined.tokens("decoder")[0] == ("the", "cat", "sleeps", ",", "déjà", ".")
    weights = joined.attention("decoder")
    assert weights.shape == (2, 1, 2, 6, 6)
    assert weights.sum(-1).allclose(torch.ones(2, 1, 2, 6), atol=1e-5)
    assert joined.weights("decoder", 1).equal(weights[1])
    assert joined.allowed("decoder")[0, 0, 0].equal(torch.ones(6, 6, dtype=torch.bool).tril())
    assert len(set(pipeline.source_vocabulary.tokens)) == len(tokenizer)
    assert [readable(piece) for piece in ("ē", "Ġĉ", "Ċ", "ġ", "a\x1b\n")] == ["␓", "▁␉", "⏎", "␡", "a␛⏎"]
    assert not [token for token in pipeline.source_vocabulary.tokens if not token.isprintable() and ord(token[0]) < 128]
    assert [readable(piece) for piece in ("Ġcat", "cat", "##ing", "▁cat", "é", "Ã©", "ĠÃ©", "Ã")] == [
        "▁cat",
        "cat",
        "##ing",
        "▁cat",
        "é",
        "é",
        "▁é",
        "Ã",
    ]
