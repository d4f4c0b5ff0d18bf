"""Samples: from the calls that an episode recorded to the sequences that are trained.

Invariant: sampled tokens are the trained tokens, each once, after exactly what it was sampled after; nothing that has
tokens is rendered or joined by text. `samples_of` does an episode; its Fidelity says how exactly it went.
"""

from guiforge.samples.conversation import Conversation, Message, Part, ToolUse
from guiforge.samples.fidelity import Fidelity
from guiforge.samples.images import ImageSpan, ImageTokens, Mismatch, Runs, image_tokens, place_images
from guiforge.samples.reasons import Reason
from guiforge.samples.sample import (
    EpisodeSamples,
    NeedsImageTokens,
    Sample,
    TextSample,
    Turn,
    cut,
    samples_of,
    text_samples_of,
)
from guiforge.samples.tree import Branch, Link, Tree, message_tree, token_tree

__all__ = [
    "Branch",
    "Conversation",
    "EpisodeSamples",
    "Fidelity",
    "ImageSpan",
    "ImageTokens",
    "Link",
    "Message",
    "Mismatch",
    "NeedsImageTokens",
    "Part",
    "Reason",
    "Runs",
    "Sample",
    "TextSample",
    "ToolUse",
    "Tree",
    "Turn",
    "cut",
    "image_tokens",
    "message_tree",
    "place_images",
    "samples_of",
    "text_samples_of",
    "token_tree",
]
