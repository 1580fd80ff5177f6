"""Roles of people and animals in the owner's life, by any word for them: "my boy" is a son, 太太 a partner. Pure.

A question names somebody by a role, a memory by name: the relation to the owner links the two.
"""

import re

from echovessel.language.kinship import relatives_in
from echovessel.language.plain_text import any_word

_ROLES = {
    "son": r"boys?|lads?|sons?|儿子",
    "daughter": r"girls?|daughters?|女儿|闺女",
    "grandchild": r"grand(?:son|daughter|child|children|kids?)s?|外?孙[女子]?",
    "partner": r"partner|spouse|husband|wife|fiancée?|boyfriend|girlfriend|dat(?:e|ing)|seeing|"
    r"太太|老婆|老公|丈夫|妻子|爱人|对象|男友|女友|男朋友|女朋友|未婚[妻夫]",
    "friend": r"friends?|pals?|mates?|buddy|buddies|朋友|闺蜜|伙计|哥们儿?|发小",
    "colleague": r"colleagues?|co-?workers?|boss|manager|employer|同事|老板|领导|上司",
    "neighbour": r"neighbou?rs?|landlord|landlady|flatmates?|roommates?|housemates?|邻居|对门|房东|室友|合租",
    "teacher": r"teachers?|tutors?|professor|supervisor|mentor|老师|导师|师傅|教授",
    "doctor": r"doctors?|counsell?ors?|therapists?|nurses?|psychologists?|医生|大夫|心理(?:老师|医生|咨询师?)",
    "in-law": r"(?:sister|brother|mother|father|son|daughter)s?-in-law|小姨子|小舅子|大姑子|儿媳妇?|女婿|亲家",
    "pet": r"pets?|cats?|kittens?|dogs?|pupp(?:y|ies)|birds?|rabbits?|hamsters?|parrots?|"
    r"宠物|猫|狗|鸟|画眉|兔子|仓鼠|鹦鹉",
}
_SPECIES = {
    "cat": r"\b(?:cats?|kittens?|kitty|tom|tabby)\b|猫",
    "dog": r"\b(?:dogs?|pupp(?:y|ies)|hound|corgi|labrador|poodle|terrier|spaniel)\b|狗|犬|柯基|泰迪|金毛|拉布拉多",
    "bird": r"\b(?:birds?|parrots?|budgie|canary)\b|鸟|画眉|鹦鹉|八哥",
    "rabbit": r"\b(?:rabbits?|bunny)\b|兔",
    "hamster": r"\bhamsters?\b|仓鼠",
}
_BY_SPECIES = {species: re.compile(words, re.I) for species, words in _SPECIES.items()}
_BY_ROLE = {role: any_word(words) for role, words in _ROLES.items()}
# "My neighbour's dog" is not the owner's.
_OF_OTHERS = re.compile(
    rf"\b(?!(?:my|our)\b)[\w-]+['’]s (?:\w+ )?(?:{_ROLES['pet'].partition('|宠物')[0]})\b|"
    r"(?:邻居|朋友|同事|别人|人家|[他她])们?家?的?[^，。？]{0,2}(?:宠物|猫|狗|鸟)",
    re.I,
)
_BY_BIRTH = {
    "father", "mother", "brother", "sister", "grandmother", "grandfather", "son", "daughter", "grandchild", "uncle",
    "aunt", "cousin", "pet",
}  # fmt: skip


def roles_in(text: str) -> frozenset[str]:
    """The roles that `text` names, including relatives.

    >>> sorted(roles_in("When does my boy marry?")), sorted(roles_in("狗狗是哪天去的？"))
    (['son'], ['pet'])
    """
    of_owner = _OF_OTHERS.sub(" ", text)
    return frozenset(role for role, words in _BY_ROLE.items() if words.search(of_owner)) | relatives_in(of_owner)


def born_to(relation: str) -> frozenset[str]:
    """The roles in a relation to the owner that never change.

    >>> sorted(born_to("older brother · nurse")), sorted(born_to("boyfriend"))
    (['brother'], [])
    """
    return roles_in(relation) & _BY_BIRTH


def can_be_pet(question: str, relation: str) -> bool:
    """Whether a pet with this `relation` to the owner can be the animal of the question.

    >>> [can_be_pet(asked, "ginger cat") for asked in ("How is my cat?", "How is my pet?", "How is my dog?")]
    [True, True, False]
    """
    asked_species, relation_species = (
        {name for name, words in _BY_SPECIES.items() if words.search(text)} for text in (question, relation)
    )
    # A breed that is not listed here may be of any species.
    return not asked_species or bool(asked_species & relation_species) or bool(relation and not relation_species)
