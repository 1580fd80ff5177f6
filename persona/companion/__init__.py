"""How an owner cares for a companion: the parts of its page, its picture, and edits that open pages hear of."""
