"""Wires: the protocols that a harness may speak, each in terms of chat completions.

Invariant: what a harness asks is asked of the policy, and what the policy says is said to the harness; what a
protocol has no word for is left out, never made up.
"""

from __future__ import annotations

from collections.abc import Mapping

from guiforge.proxy.wires.chat import Chat
from guiforge.proxy.wires.form import Encoder, Refused, WireFormat
from guiforge.proxy.wires.messages import Messages
from guiforge.proxy.wires.responses import Responses
from guiforge.trace import Wire

WIRES: Mapping[Wire, WireFormat] = {"chat": Chat(), "responses": Responses(), "messages": Messages()}

__all__ = ["WIRES", "Encoder", "Refused", "WireFormat"]
