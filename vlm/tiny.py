"""The tiny model: a random Qwen3-VL of about a million parameters, with a tokenizer and a processor of its own.

Invariant: every text survives the tokenizer unchanged, and known words, numbers and phrases are one token each. The
folder holds what any model's folder does, and loads offline.

The sizes and the spread of the weights are those from which a model of this size learned to click the named one of
several coloured buttons: an image patch is a token, and a coordinate is a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from vlm.loading import ImageTextProcessor, save_processor

WIDTH = 128
PATCH_PX = 16
CONTEXT = 16384  # tokens
CELLS = 16  # an axis: how fine the coordinates are that are single tokens
MIN_PIXELS, MAX_PIXELS = 64 * 64, 256 * 256  # of an image as the model sees it: 16 to 256 tokens

END = "<|im_end|>"
SPECIAL = (
    "<|endoftext|>", "<|im_start|>", END, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
PHRASES = (
    '{"action": {"name": "mouse_click", "x": ', ', "y": ', ', "button": "left"}}',
    "pyautogui.click(x=", ", y=", "## Thought\n", "## Action:\n", "## Code:\n```python\n", ")\n```",
    "<tool_call>\n", "\n</tool_call>",
)  # fmt: skip
WORDS = (
    "system user assistant tool tools think click type key press scroll drag move wait done answer infeasible button "
    "link box text field menu tab icon image shape circle square triangle rectangle star line number letter word page "
    "screen window red green blue yellow orange purple pink cyan magenta black white gray brown left right top bottom "
    "middle center up down first second last next previous large small the a an of in on at to and or with from that "
    "is it name x y GOAL PREVIOUS STEPS CURRENTLY ACTIVE PAGE Page NEXT STEP Step THOUGHT ACTION Task Instruction "
    "thought action Give move for what shows now Click Select Find Enter Focus into coordinate grid Submit OK Cancel "
    "Where What which colour color"
)
# what a text is cut into before it is looked up: numbers, words (with the space before them, or the bracket after),
# runs of punctuation with single spaces, white space
_PIECES = r"\d+(?:\.\d+)?| ?\p{L}[\p{L}_]*\(?|(?:[^\s\p{L}\d]+ ?)+|\s+"

CHAT_TEMPLATE = """\
{%- macro say(content) -%}
{%- if content is string -%}{{ content }}
{%- elif content -%}
{%- for part in content -%}
{%- if part.type == 'text' -%}{{ part.text }}{%- else -%}<|vision_start|><|image_pad|><|vision_end|>{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endmacro -%}
{%- if tools -%}<|im_start|>tools{{ '\\n' }}{{ tools | tojson }}<|im_end|>{{ '\\n' }}{%- endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}{{ '\\n' }}
{%- if message.reasoning_content -%}<think>{{ message.reasoning_content }}</think>{%- endif -%}
{{ say(message.content) }}
{%- for call in message.tool_calls or [] -%}
<tool_call>{{ '\\n' }}{"name": {{ call.function.name | tojson }}, "arguments": {{
call.function.arguments if call.function.arguments is string else call.function.arguments | tojson
}}}{{ '\\n' }}</tool_call>
{%- endfor -%}
<|im_end|>{{ '\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant{{ '\\n' }}{%- endif -%}
"""


def percents(cells: int = CELLS) -> list[str]:
    """The middle of each of an axis's cells in percent, with one decimal."""
    return [f"{100 * (cell + 0.5) / cells:.1f}" for cell in range(cells)]


def fractions(cells: int = CELLS) -> list[str]:
    """The middle of each of an axis's cells as a fraction, with three decimals at most."""
    return [f"{(cell + 0.5) / cells:.3f}".rstrip("0") for cell in range(cells)]


def make_tokenizer(texts: Iterable[str] = (), phrases: Sequence[str] = PHRASES) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer that reads as one token each: a known word (WORDS and those of texts), a phrase.

    texts: whose pieces (words, numbers, runs of punctuation) are known too.  phrases: of any form; they go first.
    """
    split = pre_tokenizers.Split(Regex(_PIECES), "isolated")
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    forms = [form for word in (*WORDS.split(), *percents(), *fractions()) for form in (word, f" {word}")]
    pieces = [form for form in forms if len(split.pre_tokenize_str(form)) == 1]
    pieces += [piece for text in texts for piece, _ in split.pre_tokenize_str(text)]
    known = [token for piece in dict.fromkeys(pieces) for token, _ in spelled.pre_tokenize_str(piece)]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: index for index, token in enumerate(dict.fromkeys([*SPECIAL, *alphabet, *known]))}
    # without merges, what is not in the vocabulary as a whole goes byte by byte
    core = Tokenizer(models.BPE(vocab=vocab, merges=[], ignore_merges=True))
    core.pre_tokenizer = pre_tokenizers.Sequence([split, spelled])
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    core.add_tokens([AddedToken(phrase, special=False, normalized=False) for phrase in phrases])
    return PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token=END, pad_token=SPECIAL[0], model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )  # fmt: skip


def make(
    directory: Path, *, texts: Iterable[str] = (), phrases: Sequence[str] = PHRASES, seed: int = 0
) -> None:  # fmt: skip
    """Write a tiny model into a folder, which is made where there is none.

    texts, phrases: what are single tokens, see `make_tokenizer`.  seed: of the weights.
    """
    tokenizer = make_tokenizer(texts, phrases)
    images = Qwen2VLImageProcessorPil(
        patch_size=PATCH_PX, temporal_patch_size=1, merge_size=1, image_mean=[0.5] * 3, image_std=[0.5] * 3,
        size={"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS},
    )  # fmt: skip
    save_processor(ImageTextProcessor(images, tokenizer, chat_template=CHAT_TEMPLATE), directory)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen3VLForConditionalGeneration(config(tokenizer))
        torch.nn.init.normal_(model.model.visual.pos_embed.weight, std=0.3)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(directory)


def config(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """The model's sizes; its vocabulary is the tokenizer's."""
    ids: dict[str, Any] = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    text = {
        "vocab_size": len(tokenizer), "hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": WIDTH // 4, "initializer_range": 0.088,
        "max_position_embeddings": CONTEXT, "tie_word_embeddings": True, "eos_token_id": ids[END],
        "pad_token_id": ids[SPECIAL[0]],
        # half a head's size, shared among time, height and width
        "rope_parameters": {
            "rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5], "mrope_interleaved": True,
        },
    }  # fmt: skip
    vision = {
        "depth": 1, "hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_heads": 4, "patch_size": PATCH_PX,
        "spatial_merge_size": 1, "temporal_patch_size": 1, "out_hidden_size": WIDTH, "num_position_embeddings": 256,
        "deepstack_visual_indexes": [0], "initializer_range": 0.088,
    }  # fmt: skip
    return Qwen3VLConfig(
        text_config=text, vision_config=vision, tie_word_embeddings=True, image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"], vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
