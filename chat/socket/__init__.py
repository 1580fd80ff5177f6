"""The chat socket and the event stream: frames in, events out."""
