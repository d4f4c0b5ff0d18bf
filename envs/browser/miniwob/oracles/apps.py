"""Solutions of pages that are small applications: mail, social media, flights, a shop, a calendar."""

from __future__ import annotations

import re

from envs.browser.miniwob.oracles.common import (
    Oracle,
    Steps,
    asked,
    attributes,
    click,
    filled,
    index_of,
    press,
    scrolled_to,
    texts,
)
from envs.browser.miniwob.view import MiniWobView
from envs.browser.view import OracleStuck
from guiforge.action import Wait

# -- mail --------------------------------------------------------------------------------------------------------------

_MAIL = (
    ("reply", r'Find the email by (?P<by>.*) and reply to them with the text "(?P<message>.*)"\.'),
    ("forward", r"Find the email by (?P<by>.*) and forward that email to (?P<to>.*)\."),
    ("delete", r"Find the email by (?P<by>.*) and click the trash icon to delete it\."),
    ("star", r"Find the email by (?P<by>.*) and click the star icon to mark it as important\."),
)


def _mail(view: MiniWobView) -> Steps:
    fields = {"task": "forward", **view.fields}  # some pages only ever say who and to whom
    for task, pattern in _MAIL:
        if match := re.fullmatch(pattern, view.utterance):
            fields = {"task": task, **match.groupdict()}
    number = index_of(view, "#main .email-sender", fields["by"])
    icon = {"delete": "trash", "star": "star"}.get(fields["task"])
    if icon is not None:
        yield from scrolled_to(view, f"#main .{icon}", number, "#main")
        yield [click(view, f"#main .{icon}", number)]
        return
    yield from scrolled_to(view, "#main .email-sender", number, "#main")
    yield [click(view, "#main .email-sender", number)]
    button = f"#email .email-{fields['task']} .icon"
    yield from scrolled_to(view, button, 0, "#email")
    yield [click(view, button)]
    if fields["task"] == "reply":
        yield filled(view, "#reply-text", fields["message"])
        yield [click(view, "#send-reply")]
    else:
        yield filled(view, ".forward-sender", fields["to"])
        yield [click(view, "#send-forward")]


# -- social media ------------------------------------------------------------------------------------------------------

_POSTS = "#area .media"


def _post(view: MiniWobView) -> Steps:
    user, action = asked(view, r'For the user (.*), click on the "(.*)" button\.')
    number = index_of(view, f"{_POSTS} .username", user)
    name = next(key for key, label in view.evaluate("ACTIONS").items() if label == action)
    direct = name in ("reply", "retweet", "like")
    css = f"{_POSTS} .{name if direct else 'more'}"
    yield from scrolled_to(view, css, number, "#area")
    yield [click(view, css, number)]
    if not direct:
        item = f"{_POSTS} ul .{name}"
        yield from scrolled_to(view, item, number, "#area")
        yield [click(view, item, number)]


def _posts(view: MiniWobView) -> Steps:
    """A button on all posts of a user, or on some."""
    pattern = r'Click the "(.*)" button on (?:all|(\d+)) posts? by (.*) and then click Submit\.'
    action, count, user = asked(view, pattern)
    css = f"{_POSTS} .{action.lower()}"
    numbers = [i for i, name in enumerate(texts(view, f"{_POSTS} .username")) if name == user]
    for number in numbers[: int(count) if count else None]:
        yield from scrolled_to(view, css, number, "#area")
        yield [click(view, css, number)]
    yield from scrolled_to(view, "#submitRow button", 0, "#area")
    yield [click(view, "#submitRow button")]


# -- dates, flights, tickets -------------------------------------------------------------------------------------------


def _day(view: MiniWobView, date: str) -> Steps:
    """Pick a day, `MM/DD/YYYY`, in the calendar that a date's field opens; the months go back from the last."""
    month, day, year = (int(part) for part in date.split("/"))
    yield [click(view, "#datepicker")]
    for _ in range(12):
        script = "[+$('.ui-datepicker-calendar td[data-month]').attr('data-month'), +$('.ui-datepicker-year').text()]"
        if view.evaluate(script) == [month - 1, year]:
            yield [click(view, ".ui-datepicker-calendar a", index_of(view, ".ui-datepicker-calendar a", str(day)))]
            return
        yield [click(view, ".ui-datepicker-prev")]
    raise OracleStuck(f"the calendar does not come to {date}")


def _date(view: MiniWobView) -> Steps:
    (date,) = asked(view, r"Select (.*) as the date and hit submit\.")
    yield from _day(view, date)
    yield [click(view, "#subbtn")]


def _best(view: MiniWobView, criterion: str, price: str) -> int:
    """Which offer is the cheapest, shortest, ..."""
    by_price = "cheap" in criterion or "expensive" in criterion
    css, name = (price, "data-price") if by_price else (".time-duration", "data-duration")
    values = [int(value) for value in attributes(view, css, name)]
    return values.index(max(values) if "longest" in criterion or "most" in criterion else min(values))


def _flight(view: MiniWobView) -> Steps:
    pattern = r"Book the (.*) one-way flight from: (.*) to: (.*) on (.*)\."
    criterion, origin, destination, date = asked(view, pattern)
    for css, place in (("#flight-from", origin), ("#flight-to", destination)):
        yield filled(view, css, place)
        offers = [box.text for box in view.find_all(".ui-menu-item")]
        number = next(i for i, offer in enumerate(offers) if place in offer)
        yield [*[press("Down")] * (number + 1), press("Return")]
    yield from _day(view, date)
    yield from scrolled_to(view, "#search", 0, "#area")
    yield [click(view, "#search")]
    number = _best(view, criterion, ".flight-price")
    yield from scrolled_to(view, ".flight-price", number, "#area")
    yield [click(view, ".flight-price", number)]


def _ticket(view: MiniWobView) -> Steps:
    (criterion,) = asked(view, r"Buy the ticket with the (.*)\.")
    yield [click(view, ".buy-ticket", _best(view, criterion, ".buy-ticket"))]


# -- lists over several pages ------------------------------------------------------------------------------------------


def _search(view: MiniWobView) -> Steps:
    pattern = r'Use the textbox to enter "(.*)" and press "Search", then find and click the (\d+).. search result\.'
    name, position = asked(view, pattern)
    page, number = divmod(int(position) - 1, 3)
    yield filled(view, "#search-text", name)
    yield [click(view, "#search")]
    if page:
        yield [click(view, "#pagination a", index_of(view, "#pagination a", str(page + 1)))]
    yield [click(view, "#page-content a", number)]


def _contact(view: MiniWobView) -> Steps:
    name, what = asked(view, r"Find (.*) in the contact book and click on their (\w+).*")
    for _ in range(5):
        if texts(view, "#contact .name") == [name]:
            yield [click(view, f"#contact .{what}")]
            return
        yield [click(view, "#pagination .next a")]
    raise OracleStuck(f"{name} is not in the contact book")


# -- others ------------------------------------------------------------------------------------------------------------


def _order(view: MiniWobView) -> Steps:
    """Dishes by name, or so many of a kind."""
    menu = view.evaluate("MENU")
    if match := re.fullmatch(r"Order (\d) items that are (.*)", view.utterance):
        dish = next(i for i, item in enumerate(menu) if match[2] in item["types"])
        clicks = [dish] * int(match[1])
    else:
        (names,) = asked(view, r"Order one of each item: (.*)")
        clicks = [i for i, item in enumerate(menu) if item["name"].strip() in re.split(r",\s+", names)]
    for number in clicks:
        yield from scrolled_to(view, ".food-item .add", number, "#area")
        yield [click(view, ".food-item .add", number)]
    yield from scrolled_to(view, "#submit-order button", 0, "#area")
    yield [click(view, "#submit-order button")]


def _waited(view: MiniWobView) -> Steps:
    (seconds,) = asked(view, r"Click button ONE, wait (\d) seconds, then click button TWO\.")
    yield [click(view, "#subbtn")]
    yield [Wait(seconds=float(seconds))]
    yield [click(view, "#subbtn2")]


def _stock(view: MiniWobView) -> Steps:
    """The price moves ten times a second of the page's time; the limit is what it comes to after 7.6 s, or sooner."""
    (limit,) = asked(view, r"Buy \w+ stock when the price is less than \$([\d.]+)\.")
    for seconds in (*[0.5] * 15, 0.1, 0):
        price = texts(view, "#stock-price")[0].removeprefix("$")
        if price and float(price) <= float(limit):
            yield [click(view, "#buy")]
            return
        yield [Wait(seconds=seconds)]
    raise OracleStuck("the price did not fall to the limit")


APPS: dict[str, Oracle] = {
    **dict.fromkeys(
        ("email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-forward-nl",
         "email-inbox-forward-nl-turk", "email-inbox-important", "email-inbox-nl-turk", "email-inbox-noscroll",
         "email-inbox-reply", "email-inbox-star-reply"),
        _mail,
    ),
    "social-media": _post,
    "social-media-all": _posts,
    "social-media-some": _posts,
    **dict.fromkeys(("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay"), _date),
    "book-flight": _flight,
    "book-flight-nodelay": _flight,
    "buy-ticket": _ticket,
    "search-engine": _search,
    "phone-book": _contact,
    "order-food": _order,
    "button-delay": _waited,
    "stock-market": _stock,
}  # fmt: skip
