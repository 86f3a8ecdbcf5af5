"""Tests of models of a hub, which is a small server on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.loopback import COMMIT, Hub, serving
from tests.transformer.huggingface.tiny import folder_of
from transformer import CheckpointError, open_model
from transformer.huggingface import hub as hubs
from transformer.huggingface.hub import HubId, hub_id
from transformer.huggingface.hub_download import PARTIAL, Cancelled, download

WEIGHTS = "model.safetensors"
TINY = HubId("owner/tiny", "main")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the model `owner/tiny`, which also has files that are not needed."""
    source = tmp_path / "source"
    source.mkdir()
    for file in folder_of("gpt2").iterdir():
        (source / file.name).write_bytes(file.read_bytes())
    for name in ("modeling_tiny.py", "pytorch_model.bin", "README.md", "tf_model.h5"):
        (source / name).write_text("not needed")
    monkeypatch.setenv(hubs.STORE, str(tmp_path / "store"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(Hub(owner__tiny=source)) as served:
        monkeypatch.setenv(hubs.ADDRESS, served.address)
        yield served


def go_on(done: int, total: int) -> bool:
    assert 0 <= done <= total
    return True


def refusal(model: HubId = TINY) -> str:
    """The sentence with which a download is refused."""
    with pytest.raises(CheckpointError) as error:
        download(model, go_on)
    return str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        *("gpt2", "../etc/passwd", "owner/..", "owner/../x", "owner/name/more", "http://127.0.0.1/x", "//host/name"),
        *("owner/name@../../x", "owner/name@a/b", "owner/name?x=1", "owner/name#x", "owner%2fname/x", "api/models"),
        *("owner/name\n@main", "owner/name@", "@main", "", "owner/.git", "a:b/c", "owner/name.git", "ówner/name"),
        *("owner/na me", "owner/a--b", "o/" + "n" * 97),
    ],
)
def test_an_invalid_id_is_refused_before_it_reaches_an_address(text: str) -> None:
    with pytest.raises(CheckpointError, match="is not the id of a model; expected owner/name"):
        hub_id(text)


def test_an_id_has_a_revision() -> None:
    assert hub_id(" owner/name.v1-x ") == HubId("owner/name.v1-x", "main")
    assert hub_id(f"o/n@{COMMIT}") == HubId("o/n", COMMIT)
    assert hub_id("o/n@refs/pr/4").revision == "refs/pr/4"


def test_a_download_has_the_files_that_are_needed_and_opens(hub: Hub) -> None:
    reports: list[tuple[int, int]] = []
    folder = download(TINY, lambda done, total: bool(reports.append((done, total)) or True))
    taken = {path.name for path in folder.iterdir()}
    assert taken == {"config.json", "generation_config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json"}
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert reports[-1] == (total, total)
    assert hubs.downloaded() == {f"owner/tiny@{COMMIT}": folder}
    assert folder == hubs.folder_of(HubId("owner/tiny", COMMIT))
    ours, theirs = open_model(folder), open_model(folder_of("gpt2"))
    assert ours.answer("the cat") == theirs.answer("the cat")
    asked = len(hub.requests)
    assert download(HubId("owner/tiny", "v1"), go_on) == folder  # the same commit
    assert len(hub.requests) == asked


def test_an_interrupted_download_continues_where_it_ended(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    hub.breaks[WEIGHTS] = 3000  # the connection is interrupted, and the rest is requested
    download(TINY, go_on)
    assert [wanted for name, wanted in hub.requests if name == WEIGHTS] == [None, "bytes=3000-"]


def test_a_cancelled_download_keeps_the_files_that_are_complete(hub: Hub) -> None:
    limit = sum(path.stat().st_size for path in hub.models["owner/tiny"].glob("*.json")) + 2500
    with pytest.raises(Cancelled):
        download(TINY, lambda done, _: done < limit)
    assert hubs.downloaded() == {}
    asked = [name for name, _ in hub.requests]
    download(TINY, go_on)
    assert [name for name, _ in hub.requests[len(asked) :]] == [WEIGHTS]
    assert len(hubs.downloaded()) == 1


def test_a_model_that_cannot_be_opened_is_refused_before_its_weights(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = hub.models["owner/tiny"]
    assert refusal(HubId("owner/other", "main")) == "The hub has no model 'owner/other', or it is not open to everybody."
    assert refusal(HubId("owner/tiny", "v9")) == "'owner/tiny' has no revision 'v9'."
    hub.announced[WEIGHTS] = 3_000_000_000
    assert refusal() == "'owner/tiny' takes 3000 MB of memory; this server allows 2000 (HEADLIGHT_MODEL_MEGABYTES)."
    hub.announced = {"tokenizer.json": 41_000_000}
    assert refusal().startswith("'tokenizer.json' of 'owner/tiny' has 41 MB; allowed are 40")
    hub.announced.clear()
    assert hub.requests == []
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"gpt2"', '"bloom"'))
    assert "is of the type 'bloom', which cannot be traced" in refusal()
    (folder / "config.json").write_text(config.replace("{", '{"auto_map": {},', 1))
    assert "asks for code" in refusal()
    assert {name for name, _ in hub.requests} == {"config.json"}
    (folder / WEIGHTS).rename(folder / "weights.bin")
    assert "has no safetensors files" in refusal()
    monkeypatch.setenv(hubs.ADDRESS, "http://127.0.0.1:9")
    assert refusal() == "The hub at http://127.0.0.1:9 cannot be reached from this server (ConnectError)."
    monkeypatch.setenv(hubs.ADDRESS, "file:///etc")
    assert "does not start with http or https" in refusal()


def test_more_or_other_bytes_than_announced_are_not_kept(hub: Hub) -> None:
    hub.announced["config.json"] = 100
    assert refusal() == "'config.json' of 'owner/tiny' is larger than the hub announced."
    hub.announced.clear()
    hub.digests[WEIGHTS] = 64 * "0"
    assert refusal() == f"'{WEIGHTS}' of 'owner/tiny' has other bytes than the hub announced."
    assert not [path for path in (hubs.store() / PARTIAL).iterdir() if path.is_dir()]


def test_the_least_recently_used_model_is_deleted_to_make_room(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    old = download(TINY, go_on)
    hub.models["owner/new"] = hub.models["owner/tiny"]
    size = sum(path.stat().st_size for path in old.iterdir())
    monkeypatch.setattr("transformer.huggingface.hub_download.HUB_MEGABYTES", 1.5 * size / 1e6)
    new = download(HubId("owner/new", "main"), go_on)
    assert not old.exists()
    assert new.exists()
