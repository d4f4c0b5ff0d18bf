"""The worlds: envs.desktop is a real desktop under Xvfb."""
