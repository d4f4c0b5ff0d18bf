"""The stack itself: contracts, harnesses, policies, episodes, runs and the command line."""
