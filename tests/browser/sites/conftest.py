from tests.browser.sites.rig import served

__all__ = ["served"]
