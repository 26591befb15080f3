"""Third-party implementations, protocols of the user, their settings, and who plays which role. Starts no program."""
