"""What every section of the HTTP API shares: bodies, pages of lists, problems, documentation, tokens."""
