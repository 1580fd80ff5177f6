"""Forgetting: plan, choose, do in one transaction, prove. See the modules, each named for its deed."""

from memory.forgetting.types import Affected, Busy, Choice, Kind, Plan, PlanChanged, Target

__all__ = ["Affected", "Busy", "Choice", "Kind", "Plan", "PlanChanged", "Target"]
