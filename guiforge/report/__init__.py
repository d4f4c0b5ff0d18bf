"""The pages that a person looks at, and the numbers on them."""

from guiforge.report.page import write_page
from guiforge.report.summary import Summary, parameter_text, summarise, wilson

__all__ = ["Summary", "parameter_text", "summarise", "wilson", "write_page"]
