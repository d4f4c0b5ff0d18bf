"""Suites run many times over: their scores with intervals, what others published read in, judges, the task linter."""
