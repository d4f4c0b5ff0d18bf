"""Task families of the site `shop`: what it sells and has sold, and its customer's cart, orders, lists and reviews."""

from __future__ import annotations

from envs.browser.suites import shop_account, shop_ask, shop_cart, shop_wishes

FAMILIES = (*shop_ask.FAMILIES, *shop_cart.FAMILIES, *shop_wishes.FAMILIES, *shop_account.FAMILIES)
