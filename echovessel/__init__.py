"""The frame of EchoVessel: wiring on top, infrastructure at the bottom, no domain words inside."""
