"""Labels of the reason codes stored on merge proposals."""

from django.utils.translation import gettext_lazy as _

REASONS = {
    "same_name": _("the same name"),
    "shared_alias": _("a shared alias"),
    "shared_name": _("one name is a short form of the other"),
    "transliteration": _("one name is the other in another spelling"),
    "similar_spelling": _("the names sound alike"),
    "familiar_name": _("one may be a pet name of the other"),
    "other_script": _("the same name in two scripts"),
    "similar_memories": _("similar memories"),
    "shared_company": _("mentioned with the same people"),
    "said_so": _("you said so in a conversation"),
    "by_hand": _("You merged these"),
    "split": _("one was split from the other"),
}
