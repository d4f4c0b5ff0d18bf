"""What reads a final state: comparators and readers of applications' files."""
