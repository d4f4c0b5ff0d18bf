"""Oscar's search, its views replaced."""

from oscar.apps.search import apps


class SearchConfig(apps.SearchConfig):
    """Oscar's own, under a name at which its class loader finds our views."""

    name = "search"
