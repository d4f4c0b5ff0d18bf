"""The pages of MiniWoB++, and what is known of each.

Invariant: the names are those of the package's `html/miniwob` folder, all of them.
"""

from __future__ import annotations

from guiforge.frame import Size

# As BrowserGym shows them, which most agents know: the task is the left 160x210. `size=(160, 210)` shows it alone.
SCREEN: Size = (332, 214)
RESULT = "miniwob/result.json"  # the file of the final state that says what the page said

NAMES = (
    "ascending-numbers", "bisect-angle", "book-flight", "book-flight-nodelay", "button-delay", "buy-ticket",
    "chase-circle", "choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay", "choose-list",
    "circle-center", "click-button", "click-button-sequence", "click-checkboxes", "click-checkboxes-large",
    "click-checkboxes-soft", "click-checkboxes-transfer", "click-collapsible", "click-collapsible-2",
    "click-collapsible-2-nodelay", "click-collapsible-nodelay", "click-color", "click-dialog", "click-dialog-2",
    "click-link", "click-menu", "click-menu-2", "click-option", "click-pie", "click-pie-nodelay", "click-scroll-list",
    "click-shades", "click-shape", "click-tab", "click-tab-2", "click-tab-2-easy", "click-tab-2-hard",
    "click-tab-2-medium", "click-test", "click-test-2", "click-test-transfer", "click-widget", "copy-paste",
    "copy-paste-2", "count-shape", "count-sides", "daily-calendar", "drag-box", "drag-circle", "drag-cube",
    "drag-items", "drag-items-grid", "drag-shapes", "drag-shapes-2", "drag-single-shape", "drag-sort-numbers",
    "draw-circle", "draw-line", "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk", "email-inbox-important", "email-inbox-nl-turk", "email-inbox-noscroll",
    "email-inbox-reply", "email-inbox-star-reply", "enter-date", "enter-password", "enter-text", "enter-text-2",
    "enter-text-dynamic", "enter-time", "find-greatest", "find-midpoint", "find-word", "focus-text", "focus-text-2",
    "form-sequence", "form-sequence-2", "form-sequence-3", "generate-number", "grid-coordinate", "guess-number",
    "highlight-text", "highlight-text-2", "hot-cold", "hover-shape", "identify-shape", "login-user", "login-user-popup",
    "moving-items", "multi-layouts", "multi-orderings", "navigate-tree", "number-checkboxes", "odd-or-even",
    "order-food", "phone-book", "read-table", "read-table-2", "resize-textarea", "right-angle", "scroll-text",
    "scroll-text-2", "search-engine", "sign-agreement", "simon-says", "simple-algebra", "simple-arithmetic",
    "social-media", "social-media-all", "social-media-some", "stock-market", "terminal", "text-editor",
    "text-transform", "tic-tac-toe", "unicode-test", "use-autocomplete", "use-autocomplete-nodelay", "use-colorwheel",
    "use-colorwheel-2", "use-slider", "use-slider-2", "use-spinner", "visual-addition",
)  # fmt: skip

# Pages that are never at rest, and the milliseconds that an action takes on them.
MOTION = {
    "chase-circle": 100, "drag-cube": 100, "hover-shape": 100, "moving-items": 100, "simon-says": 100,
    "stock-market": 100,
}  # fmt: skip

# Pages that keep something of an episode, seen or not (handlers, values, pages of a list, a widget's state): each
# episode gets a new document. All others were compared with one after episodes of random actions: what they show, their
# DOM, fields, scroll positions, handlers and variables.
FRESH = frozenset(
    {
        "book-flight", "book-flight-nodelay", "choose-date", "choose-date-easy", "choose-date-medium",
        "choose-date-nodelay", "click-menu", "click-pie", "click-pie-nodelay", "drag-box", "drag-cube", "drag-items",
        "drag-items-grid", "drag-sort-numbers", "form-sequence", "hot-cold", "navigate-tree", "scroll-text",
        "scroll-text-2", "search-engine", "simon-says", "text-editor", "use-colorwheel", "use-colorwheel-2",
        "use-slider", "use-slider-2", "use-spinner",
    }
)  # fmt: skip
