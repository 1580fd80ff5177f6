"""The policy of speaking first: triggers, the situation, the gates and the decision."""
