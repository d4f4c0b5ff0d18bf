"""The desktop world: a real screen under Xvfb, a window manager, applications, and the suites played on them."""
