"""The outbox: the durable event log, and the single door to browsers and streams."""
