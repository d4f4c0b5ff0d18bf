"""What the museum's site is made of: sections, events, news, plain pages; contacts, and a notice."""

from django.db import models
from wagtail.admin.panels import FieldPanel, FieldRowPanel
from wagtail.contrib.settings.models import BaseSiteSetting, register_setting
from wagtail.models import Page
from wagtail.snippets.models import register_snippet


class SectionPage(Page):
    """A part of the site; the home page is one too."""

    intro = models.CharField(max_length=250, blank=True)
    content_panels = (*Page.content_panels, FieldPanel("intro"))
    promote_panels = (FieldPanel("slug"),)


class PlainPage(Page):
    """A page of text."""

    body = models.TextField(blank=True)
    content_panels = (*Page.content_panels, FieldPanel("body"))
    promote_panels = (FieldPanel("slug"),)


class NewsPage(Page):
    """A piece of news."""

    date = models.DateField()
    author = models.CharField(max_length=80)
    body = models.TextField(blank=True)
    content_panels = (*Page.content_panels, FieldPanel("date"), FieldPanel("author"), FieldPanel("body"))
    promote_panels = (FieldPanel("slug"),)


class EventPage(Page):
    """Something that visitors can book."""

    date = models.DateField()
    room = models.CharField(max_length=80)
    seats = models.PositiveIntegerField()
    fee = models.DecimalField("Fee (EUR)", max_digits=6, decimal_places=2)
    host = models.CharField(max_length=80)
    content_panels = (
        *Page.content_panels,
        FieldRowPanel([FieldPanel("date"), FieldPanel("room")]),
        FieldRowPanel([FieldPanel("seats"), FieldPanel("fee")]),
        FieldPanel("host"),
    )
    promote_panels = (FieldPanel("slug"),)


@register_snippet
class Contact(models.Model):
    """Somebody whom visitors can ask."""

    name = models.CharField(max_length=80)
    role = models.CharField(max_length=80)
    phone = models.CharField(max_length=40)
    office = models.CharField(max_length=40)

    class Meta:
        """How the console lists them."""

        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


@register_setting
class Notice(BaseSiteSetting):
    """What stands on top of every page, and how the museum is reached."""

    notice = models.CharField(max_length=200, blank=True)
    ticket_phone = models.CharField(max_length=40)
    email = models.EmailField()
