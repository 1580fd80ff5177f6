"""Pure text in English and Chinese: tokens, dates, names, corrections. No Django models, no input or output."""
