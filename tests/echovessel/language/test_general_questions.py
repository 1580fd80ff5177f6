"""Which messages ask about the world, or for a service, and which about somebody's life."""

from echovessel.language.general_questions import asks_of_the_world
from tests.table import each_row


@each_row(
    "text",
    [
        "How do black holes evaporate?",
        "What's the difference between a virus and a bacterium?",
        "So what is quantum entanglement?",
        "Could you please translate this into Finnish?",
        "Tell me a joke about owls.",
        "How do I centre a div?",
        "Is Pluto a planet?",
        "Is it going to rain tomorrow?",
        "Who wrote Middlemarch?",
        "黑洞为什么会蒸发？",
        "帮我给房东写封邮件。",
        "怎么用Python读取文件？",
        "光合作用是什么意思？",
        "世界上最深的湖在哪里？",
    ],
)
def test_a_question_that_anybody_may_ask_is_about_the_world(text: str) -> None:
    assert asks_of_the_world(text)


@each_row(
    "text",
    [
        "Do you remember the white cat?",
        "Do you know the way to the allotment?",
        "How do I get to the place I told you about?",
        "还记得那只白猫吗？",
        "How do I take my coffee?",
        "How do I feel about Leeds?",
        "Is Biscuit still sick?",
        "How does Edie get to work?",
        "Tell me about the kiln.",
        "What's the name of the landlord?",
        "How much is the rent?",
        "Who won the office quiz?",
        "Which weekday is the little one's therapy?",
        "Write down that the flat is sold.",
        "Recommend something for my sister's birthday.",
        "Explain to Dad that I am late.",
        "What does Mira paint?",
        "My legs hurt.",
        "",
        "对联是谁写的？",
        "怎么认识陈默的？",
        "帮我想想妈妈的生日怎么过。",
        "我怎么用电饭锅？",
        "为什么要推迟开业？",
        "书店叫什么名字？",
        "What's the capital of my home country called again, where did I say I'm from?",
        "Is coffee allowed after the operation?",
        "Name some allergies of the family.",
        "Who wrote Ruth's letter?",
        "How do I get to work?",
        "Which vitamins did the doctor prescribe?",
        "What's the latest on the flat?",
        "Who won the election at the tennis club?",
        "我对什么过敏来着",
        "去年去了哪个国家",
        "最喜欢的国家是哪个国家？",
        "推荐信是谁写的",
        "医生说有哪些维生素要补",
        "结婚纪念日那天天气怎么样",
    ],
)
def test_a_question_about_somebody_or_of_things_both_know_is_not(text: str) -> None:
    assert not asks_of_the_world(text, ["Ana", "Mira"])
