"""The ways an order can be sent."""

from decimal import Decimal

from oscar.apps.shipping import repository
from oscar.apps.shipping.methods import FixedPrice


class _Parcel(FixedPrice):
    code, name, description = "parcel", "Parcel", "By van, in three to five days."
    charge_excl_tax = charge_incl_tax = Decimal("4.90")


class _Express(FixedPrice):
    code, name, description = "express", "Express", "By courier, on the next working day."
    charge_excl_tax = charge_incl_tax = Decimal("12.90")


class _Pickup(FixedPrice):
    code, name, description = "pickup", "Pick-up at the warehouse", "Ready after four hours."
    charge_excl_tax = charge_incl_tax = Decimal("0.00")


class Repository(repository.Repository):
    """Three methods, whatever the basket holds."""

    methods = (_Parcel(), _Express(), _Pickup())
