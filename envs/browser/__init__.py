"""The browser's world."""
