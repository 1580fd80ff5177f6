"""What a plan says of each thing that it touches: the words for the codes of `Affected.why` and `Affected.kind`."""

from django.utils.translation import gettext_lazy as _

REASONS = {
    # what goes
    "chosen": _("You chose it."),
    "in_chosen": _("It is part of what you chose."),
    "mentions": _("It is about whom you chose."),
    "names": _("A name of whom you chose stands in it."),
    "earlier": _("It is an earlier version of something that goes."),
    "words_of": _("A memory that goes was made from these words."),
    "rests_on": _("It was concluded from something that goes."),
    "quotes": _("It was made from a line that goes."),
    "same_lines": _("It was also told in lines that go."),
    "echo": _("It repeats words that go."),
    "mentioned": _("It is also mentioned in it."),
    "names_it": _("A name that goes stands in it."),
    "rare_word": _("A word that you seldom use stands in it, and in what goes."),
    "same_words": _("It says the same, in the same words."),
    "no_ground": _("Nothing that it rests on is left."),
    "empty": _("No line of it is left."),
    "unmentioned": _("No memory that is left mentions it."),
    "name_gone": _("This name stands only in what goes."),
    # what stays
    "other_ground": _("It rests on something else as well; its link to what goes is cut."),
    # what is put away
    "put_away": _("You chose that the lines stay in the history; they reach no model any more."),
    "still_needed": _("A memory that stays rests on it: it stays in the history, and reaches no model any more."),
    # what is erased
    "written_from": _("It was written from what goes."),
    "felt_in": _("It tells of a talk from which something goes."),
    # what is not touched
    "written_by_people": _("A person wrote it: it is not touched. Look whether it says what goes."),
    "later": _("It is a later version of something that goes, and stays unless you choose it, too."),
    "on_its_way": _("It is still to be read. What goes is left out of it, and the file goes when it is read."),
}

KINDS = {
    "message": _("line"),
    "node": _("memory"),
    "event": _("event"),
    "thought": _("thought"),
    "intention": _("promise"),
    "expectation": _("expectation"),
    "session": _("talk"),
    "entity": _("somebody or something with a name"),
    "alias": _("name"),
    "summary": _("summary of a talk"),
    "description": _("description of somebody or something"),
    "mood": _("note about the mood"),
    "core_block": _("core block"),
    "persona": _("persona"),
    "import": _("file that you brought"),
}
