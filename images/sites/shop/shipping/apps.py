"""Oscar's shipping, with methods of our own."""

from oscar.apps.shipping import apps


class ShippingConfig(apps.ShippingConfig):
    """Oscar's own, under a name at which its class loader finds our repository."""

    name = "shipping"
