"""Pictures are small enough to be shown as they are."""

from typing import Any


class AsItIs:
    """A thumbnailer that gives every picture itself: no files made on a visit."""

    def generate_thumbnail(self, source: Any, **_: Any) -> Any:
        """The picture itself."""
        return source

    def delete_thumbnails(self, source: Any) -> None:
        """There are none."""
