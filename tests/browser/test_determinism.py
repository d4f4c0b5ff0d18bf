"""What makes a page the same each time, where it is asked for."""

from __future__ import annotations

import json
from typing import Any

from envs.browser.env import BrowserEnv
from guiforge.action import Click, Wait
from guiforge.frame import Frame
from tests.browser.rig import Site, at


def facts(env: BrowserEnv) -> dict[str, Any]:
    """What the page found out about its world."""
    found: dict[str, Any] = json.loads(env.oracle_view().wait_for("#facts").text)
    return found


def test_random_numbers_follow_the_task_s_seed(env: BrowserEnv, site: Site) -> None:
    seen = []
    for seed in (1, 1, 2):
        env.reset(site.task("random.html", seed=seed))
        seen.append(facts(env)["random"])
    assert seen[0] == seen[1] != seen[2]
    assert len({*seen[0], *seen[2]}) == 4 and all(0 <= number < 1 for number in seen[0] + seen[2])


def test_a_still_page_has_no_animation_and_no_blinking_caret(env: BrowserEnv, site: Site) -> None:
    first = env.reset(site.task("random.html"))
    assert first.frame.settled
    env.step(Click(**at(env, "#caret")))
    frames = [env.step(Wait(seconds=0.4)).frame for _ in range(4)]
    assert all(frame.same_pixels(frames[0]) for frame in frames)
    view = env.oracle_view()
    view.evaluate("document.getElementById('slide').style.marginLeft = '200px'")
    assert env.step().info["title"] == "slid"  # the transition ended, and said so
    move = "[{transform: 'none'}, {transform: 'translateX(90px)'}]"
    view.evaluate(f"document.getElementById('pulse').animate({move}, {{duration: 60000, fill: 'forwards'}}); null")
    moved = env.step()
    pulse = view.find("#pulse")
    assert moved.frame.settled and pulse is not None and pulse.x == 98


def test_what_moved_by_part_of_a_pixel_shows_as_if_it_had_always_been_there(env: BrowserEnv, site: Site) -> None:
    def shown(at: str) -> Frame:
        env.oracle_view().evaluate(f"(() => {{ {at} }})()")
        return env.step(Wait(seconds=0.1)).frame

    style = "display:inline-block;border:1px solid gray;border-radius:4px;padding:5.3px 10.7px"
    put = f"document.body.innerHTML = '<div id=box style=\"{style}\">Show filters</div>'; box.style.marginLeft = "
    env.reset(site.task("next.html"))
    always = shown(f"{put}'10.4px'")
    env.reset(site.task("next.html"))
    shown(f"{put}'10px'")
    shown("box.style.marginLeft = '10.4px'")
    env.oracle_view().page.redraw(3)
    assert shown("").same_pixels(always)


def test_a_still_page_takes_a_change_of_style_at_once(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("random.html"))
    change = """(() => { const caret = document.getElementById('caret'); caret.style.width = '333px';
        return getComputedStyle(caret).width })()"""
    assert env.oracle_view().evaluate(change) == "333px"


def test_clock_zone_and_locale_are_as_asked(site: Site) -> None:
    env = BrowserEnv(
        clock="2024-02-29T12:00:00+00:00", frozen=True, timezone="Asia/Tokyo", locale="de-DE", seeded=False, still=False
    )
    try:
        seen = []
        for _ in range(2):
            first = env.reset(site.task("random.html"))
            assert not first.frame.settled  # it is animated
            seen.append(facts(env))
            text = env.oracle_view().evaluate(
                "[new Date().toISOString(), new Date().getHours(), new Date(0).getTime()]"
            )
            assert text == ["2024-02-29T12:00:00.000Z", 21, 0]
    finally:
        env.close()
    assert seen[0]["now"] == seen[1]["now"] == 1709208000000
    assert seen[0]["zone"] == "Asia/Tokyo" and seen[0]["number"] == "1.234,5"
    assert seen[0]["language"] == "de-DE"
    assert seen[0]["random"] != seen[1]["random"]


def test_a_clock_that_is_not_frozen_goes_on(site: Site) -> None:
    env = BrowserEnv(clock="2024-02-29T12:00:00+00:00")
    try:
        env.reset(site.task("random.html"))
        start = facts(env)["now"]
        env.step(Wait(seconds=0.2))
        assert 200 <= env.oracle_view().evaluate("Date.now()") - start < 60_000
        assert 0 <= start - 1709208000000 < 60_000
    finally:
        env.close()
