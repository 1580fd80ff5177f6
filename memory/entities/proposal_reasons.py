"""Why it is asked, or was decided, whether two entities are one: the words for the codes kept on proposals."""

from django.utils.translation import gettext_lazy as _

REASONS = {
    "same_name": _("the same name"),
    "shared_alias": _("a shared other name"),
    "shared_name": _("one name is short for the other"),
    "transliteration": _("one name spells the other"),
    "similar_spelling": _("the names sound alike"),
    "familiar_name": _("one may be a pet name of the other"),
    "other_script": _("names in two scripts"),
    "similar_memories": _("similar memories"),
    "shared_company": _("seen with the same people"),
    "said_so": _("it was said in a talk"),
    "by_hand": _("somebody said so by hand"),
    "split": _("the one was split from the other"),
}
