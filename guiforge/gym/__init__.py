"""Suites as Gymnasium environments: pixels and Actions, or what an agent written for BrowserGym sees and says.

import gymnasium, guiforge.gym
guiforge.gym.register()
env = gymnasium.make("guiforge/miniwob-v0", task="click-*")
pixels, info = env.reset(seed=7)  # info["instruction"] says what to do
web = gymnasium.make("guiforge/browsergym-v0", suite="webvoyager-like")
seen, info = web.reset(seed=7)  # seen["goal"], seen["axtree_object"], ...
"""

from __future__ import annotations

import gymnasium

from guiforge import registry
from guiforge.gym.browsergym import BrowserGymEnv
from guiforge.gym.env import GuiEnv, SuiteEnv
from guiforge.gym.spaces import action_space, to_action, to_sample

__all__ = ["BrowserGymEnv", "GuiEnv", "SuiteEnv", "action_space", "register", "to_action", "to_sample"]


def register() -> None:
    """Make every registered suite known to `gymnasium.make` as `guiforge/<suite>-v0`, and `guiforge/browsergym-v0`.

    Harmless to repeat.
    """
    made = {f"guiforge/{suite}-v0": ("GuiEnv", {"suite": suite}) for suite in registry.names("suites")}
    for name, (kind, arguments) in {**made, "guiforge/browsergym-v0": ("BrowserGymEnv", {})}.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=f"guiforge.gym:{kind}", kwargs=arguments)
