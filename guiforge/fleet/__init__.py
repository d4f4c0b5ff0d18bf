"""The fleet: many episodes on a backend.

Invariant: every planned episode ends with exactly one Outcome in the store, or stays unfinished there to be run again.
"""

from guiforge.fleet.here import run_here
from guiforge.fleet.scheduler import Event, Finished, Progress, Retried, Started, run_episodes

__all__ = ["Event", "Finished", "Progress", "Retried", "Started", "run_episodes", "run_here"]
