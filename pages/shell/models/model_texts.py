"""Texts about a model in the language of the session: from `models.toml`, else in English from its recipe or its file."""

from pages.shell.models.catalogue import available, snapshot_of, trained, trained_key
from pages.shell.models.folders import FolderModel, folder_models, problem_of
from pages.shell.models.own_models import about_own, own_models
from pages.shell.view.runs import runs
from pages.ui.format import amount, byte_size, whole
from pages.ui.text import has_text, text
from transformer.pipeline.untrained import ACCEPTS, LARGEST_ID, LONGEST
from transformer.training.recipe import RECIPES

# The entry of `models.toml` for all untrained models.
UNTRAINED = "untrained"


def description(model: str) -> str:
    """One line about a model, by its name in the picker: what a trained model does, which snapshot it is, or where a model of
    the session comes from."""
    if model in own_models():
        return about_own(model)
    if model in folder_models():
        return about_folder(folder_models()[model])
    snapshot = snapshot_of(model)
    if snapshot:
        base, step = snapshot
        return text("sidebar")["snapshot"].format(model=base, step=whole(step), steps=whole(RECIPES[base].steps))
    english = RECIPES[model].description if model in RECIPES else available()[model]
    return _of_language(model, "description") or english


def about_folder(model: FolderModel) -> str:
    """A sentence about a model in a folder of the server: its family, its parameters and the memory that it takes."""
    family, parameters, nbytes = model.about
    sentence = text("sidebar")["folder_model_own" if model.own_network else "folder_model"]
    return sentence.format(family=family, parameters=amount(parameters), memory=byte_size(nbytes))


def accepts(model: str) -> str:
    """A clause about the texts that a model, by its name in the picker, accepts."""
    if model in folder_models():
        words, pipeline = text("sidebar"), None if problem_of(model) else runs().pipeline(folder_models()[model])
        if pipeline is not None and pipeline.separator:
            return words["accepts_span"].format(separator=pipeline.separator)
        mask = pipeline.mask_token if pipeline else ""
        return words["accepts_mask"].format(mask=mask) if mask else words["accepts_text"]
    if trained(model):
        model, _ = snapshot_of(model) or (model, 0)
        return _of_language(model, "accepts") or runs().pipeline(trained_key(model)).card.accepts
    return _of_language(UNTRAINED, "accepts").format(words=LONGEST, largest=LARGEST_ID) or ACCEPTS


def limits(model: str) -> str:
    """How a model is stored and what it often gets wrong: a template with `{names}` for its numbers; empty for most models."""
    return _of_language(model, "limits")


def _of_language(model: str, field: str) -> str:
    """A text of a model; empty if the model or the text is missing in `models.toml`."""
    return text("models").get(model, {}).get(field, "") if has_text("models") else ""
