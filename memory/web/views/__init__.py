"""The owner's memory pages: see, correct, hide, forget. Each answers its owner alone and is kept by no browser."""
