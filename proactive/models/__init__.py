from proactive.models.consideration import Consideration
from proactive.models.outreach import Outreach
from proactive.models.push_subscription import PushSubscription
from proactive.models.reaching_out import ReachingOut

__all__ = ["Consideration", "Outreach", "PushSubscription", "ReachingOut"]
