"""Models and processors from a folder or a name, as `from_pretrained` takes them.

Invariant: a processor is for images and text alone, so none needs torchvision, which only videos do. A folder that is
written here is a usual one, which any program loads.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from transformers import AutoModelForImageTextToText, Qwen3VLProcessor

CONFIG = "processor_config.json"


class UnusableModel(Exception):
    """There is no model where one was asked for, or it is of a kind that can't be used here; the text says which."""


class ImageTextProcessor(Qwen3VLProcessor):
    """The Qwen-VL processor without its part for videos."""

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, chat_template: str | None = None) -> None:
        super().__init__(image_processor, tokenizer, chat_template=chat_template)  # type: ignore[no-untyped-call]


def save_processor(processor: ImageTextProcessor, directory: Path) -> None:
    """Write a processor so that AutoProcessor loads it too, where torchvision is installed."""
    processor.save_pretrained(directory)
    path = directory / CONFIG
    written = json.loads(path.read_text())
    path.write_text(json.dumps({**written, "processor_class": Qwen3VLProcessor.__name__}, indent=2) + "\n")


@dataclass(frozen=True)
class Model:
    """A model with its processor, to sample from.  name: what it is called where it is served.

    version: names its weights: another after they were written anew.
    """

    network: Any  # a PreTrainedModel of AutoModelForImageTextToText, which are typed too loosely to say more
    processor: ImageTextProcessor
    name: str
    version: str = ""

    @cached_property
    def context(self) -> int:
        """How many tokens a prompt and its reply may have together."""
        return int(self.network.config.get_text_config().max_position_embeddings)

    @cached_property
    def ends(self) -> frozenset[int]:
        """Ids of the tokens that end a reply."""
        given = self.network.generation_config.eos_token_id
        ids = given if isinstance(given, list) else [given]
        return frozenset({*(i for i in ids if i is not None), self.processor.tokenizer.eos_token_id})

    @cached_property
    def barred(self) -> list[int]:
        """Ids that are never sampled: image and control tokens, and those beyond the tokenizer's."""
        tokenizer, config = self.processor.tokenizer, self.network.config
        size = config.get_text_config().vocab_size
        images = {
            getattr(config, f"{name}_token_id", None) for name in ("image", "video", "vision_start", "vision_end")
        }
        special = {id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
        ids = {*special, *tokenizer.all_special_ids, *range(len(tokenizer), size), *images}
        return sorted(i for i in ids - self.ends if i is not None)


def load(path: str | Path, *, name: str = "", device: str = "cpu", dtype: str = "auto") -> Model:
    """A model for sampling.  dtype: as torch names it, or `auto` for that of the weights.  Raises UnusableModel."""
    try:
        network: Any = AutoModelForImageTextToText.from_pretrained(path, dtype=dtype, local_files_only=True)
        processor = ImageTextProcessor.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, ImportError) as error:
        raise UnusableModel(f"{path} holds no model that can be loaded: {error}") from error
    return Model(network.to(device).eval(), processor, name or Path(path).resolve().name, _version(Path(path)))


def _version(directory: Path) -> str:
    """Names the weights in a folder by their files' sizes and times: reading all of them would take minutes."""
    files = sorted(directory.glob("*.safetensors"))
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest() if facts else ""
