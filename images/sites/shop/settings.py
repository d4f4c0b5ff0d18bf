"""Settings of the shop (django-oscar): one customer, logged in by the server, and nothing kept but in SITE_DATA."""

import os
from pathlib import Path

from oscar.defaults import *  # noqa: F403

HERE = Path(__file__).parent
DATA = Path(os.environ["SITE_DATA"])
STATIC_ROOT = Path(os.environ["SITE_ROOT"]) / "static"
MEDIA_ROOT = DATA / "media"
STATIC_URL, MEDIA_URL = "/static/", "/media/"

SECRET_KEY = "not a secret: the shop is served to one browser on this machine"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = ["http://shop.test"]
DEBUG = False
ROOT_URLCONF = "urls"
WSGI_APPLICATION = "wsgi.application"
SITE_ID = 1
LANGUAGE_CODE, LANGUAGES, USE_I18N = "en", [("en", "English")], True
TIME_ZONE, USE_TZ = "UTC", True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


class _None(dict):  # a new database needs no history: its tables are made as the models are
    def __contains__(self, app: object) -> bool:
        return True

    def __getitem__(self, app: object) -> None:
        return None


MIGRATION_MODULES = _None()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "django_tables2",
    "phonenumber_field",
]

MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.RemoteUserMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [HERE / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA / "db.sqlite3",
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous=OFF"},
    },
}
# The data may be replaced under a running server, so nothing of it is kept in its memory.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}

OSCAR_SHOP_NAME, OSCAR_SHOP_TAGLINE = "Kestrel Supply", "for house and trail"
OSCAR_DEFAULT_CURRENCY = "EUR"
OSCAR_FROM_EMAIL = "orders@shop.test"
OSCAR_PRODUCTS_PER_PAGE = 12
OSCAR_IMAGE_FOLDER = "products/"
OSCAR_THUMBNAILER = "thumbnails.AsItIs"
OSCAR_INITIAL_ORDER_STATUS = OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {"Pending": (), "Shipped": (), "Cancelled": ()}
OSCAR_ALLOW_ANON_REVIEWS = False
