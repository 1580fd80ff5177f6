"""The outbox: the durable event log, and the only way by which events reach browsers and streams."""
