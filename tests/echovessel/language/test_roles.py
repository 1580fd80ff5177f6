"""What people and animals are to the owner, by any of the words for it."""

from echovessel.language.roles import can_be_pet, roles_in
from tests.table import each_row


@each_row(
    ("text", "roles"),
    [
        ("When does my boy say his vows?", {"son"}),
        ("What became of my pet?", {"pet"}),
        ("How is my flatmate?", {"neighbour"}),
        ("What did the therapist say?", {"doctor"}),
        ("my wife", {"partner", "wife"}),
        ("我太太以前学什么？", {"partner", "wife"}),
        ("孙女上台演出是哪一天？", {"grandchild"}),
        ("家里的鸟现在是哪几只？", {"pet"}),
        ("隔壁邻居家的狗叫什么？", set()),
        ("What is the name of my neighbour's dog?", set()),
        ("What is the weather like?", set()),
        ("", set()),
    ],
)
def test_a_role_is_known_by_any_of_its_words(text: str, roles: set[str]) -> None:
    assert roles_in(text) - {"family"} == roles


@each_row(
    ("asked", "relation", "can_be"),
    [
        ("Where is my dog?", "corgi", True),
        ("Where is my dog?", "cat", False),
        ("我家狗叫什么？", "柯基", True),
        ("我的猫呢？", "柯基", False),
        ("What became of my pet?", "", True),
        ("What is the name of my cat?", "", False),
        ("How is my dog?", "Lagotto", True),
    ],
)
def test_a_pet_of_another_species_is_not_meant(asked: str, relation: str, can_be: bool) -> None:
    assert can_be_pet(asked, relation) is can_be
