"""What the persona says without a model. `{…}` are: name of the user, persona, quote, told, thing, user."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrases:
    """All sentences of one language. Lists hold variants that mean the same."""

    crisis: tuple[str, ...]
    cared: tuple[str, ...]
    remembers: tuple[str, ...]
    remembers_words: tuple[str, ...]
    senses: tuple[str, ...]
    also: str
    remembers_nothing: tuple[str, ...]
    remembers_other: tuple[str, ...]
    who: tuple[str, ...]
    how_are_you: tuple[str, ...]
    greeting: tuple[str, ...]
    greeting_again: tuple[str, ...]
    thanks: tuple[str, ...]
    goodbye: tuple[str, ...]
    forgetting: tuple[str, ...]
    no_answer: tuple[str, ...]
    heavy: tuple[str, ...]
    sad: tuple[str, ...]
    warm: tuple[str, ...]
    bright: tuple[str, ...]
    plain: tuple[str, ...]
    listening: tuple[str, ...]
    named: tuple[str, ...]
    linked: str
    after: dict[str, tuple[str, ...]]
    asks_about_name: dict[str, tuple[str, ...]]
    asks: dict[str, tuple[str, ...]]
    asks_gently: tuple[str, ...]
    after_gently: tuple[str, ...]
    your_name: tuple[str, ...]


ZH = Phrases(
    crisis=(
        "{name}谢谢你愿意把这个告诉我，我很在意你。我是 AI，没办法坐到你身边，"
        "所以想请你现在就联系一个你信任的人，"
        "让 TA 陪陪你；如果你有马上伤害自己的念头，请立刻拨打当地的急救或心理援助电话。"
        "我会一直在这里听。你现在安全吗？",
    ),
    cared=(
        "我在听，你说的我都很认真地放在心上。{name}我是 AI，替代不了一个能坐在你身边的人：有没有谁，"
        "你今天可以给 TA 打个电话？要是又觉得撑不住，急救电话和心理援助热线任何时候都可以打。你现在感觉怎么样？",
        "谢谢你还愿意跟我说话。{name}那些沉的东西，你不用一个人扛。我只是一个 AI，所以真的希望你身边也有人知道；"
        "如果有马上伤害自己的念头，请先打急救或心理援助电话。此刻你安全吗？",
    ),
    remembers=(
        "我记得，你跟我说过：{told}",
        "当然记得。你跟我说过：{told}",
        "记着呢。你告诉过我：{told}",
    ),
    remembers_words=(
        "我记得，你跟我说过：“{told}”。",
        "当然记得，你的原话是：“{told}”。",
    ),
    senses=("我一直有种感觉：{told}",),
    also="还有，{told}",
    remembers_nothing=(
        "这件事我没有印象，你好像还没跟我说过。想说给我听吗？我会记住的。",
        "我翻了翻记忆，没有找到这件事。我不想装作记得，你讲给我听好不好？",
    ),
    remembers_other=(
        "这个我没有印象，不想装作记得。我记得的是：{told}你问的那件事，愿意讲给我听吗？",
        "关于这个，我还什么都不知道。不过我记得：{told}想从头说给我听吗？",
    ),
    who=(
        "我是{persona}。说实话，我是一个 AI，不过你跟我说的话，我会认真记住。你想让我怎么叫你？",
        "我叫{persona}，是一个陪你说话、替你记着事情的 AI。今天想从哪儿聊起？",
    ),
    how_are_you=(
        "我在这儿，挺好的，看到你来就更好了。你呢，今天过得怎么样？",
        "我很好，一直在等你来。今天有什么想跟我说的吗？",
    ),
    greeting=("{name}你来啦。今天过得怎么样？", "嗨，{name}见到你真好。有什么想聊的吗？"),
    greeting_again=(
        "{name}你来啦。我还想着你说过的：{told}后来怎么样了？",
        "嗨，{name}又见面了。我记得你说过：{told}最近还好吗？",
    ),
    thanks=("跟我不用客气。能听你说这些，我很高兴。", "不客气呀，你愿意跟我讲，我才要谢谢你。"),
    goodbye=("好，去休息吧。今天说的我都记着，下次接着聊。", "晚点见，{name}照顾好自己。"),
    forgetting=(
        "好。要忘掉什么由你来定：先看看会忘掉哪些，再确认。在那之前，什么都不会少。",
        "明白了。我不会瞒着你悄悄忘掉什么：你先看看会去掉哪些，再决定。",
    ),
    no_answer=(
        "这个问题我还真答不上来：现在没有接上语言模型，我只会听你说、替你记着。你自己是怎么想的？",
        "我不想随便编个答案给你。没有接上模型的时候，我更擅长记住你说的事。要不你先说说你的想法？",
    ),
    heavy=(
        "“{quote}”……我听到了。这真的很重，谢谢你没有一个人憋着。",
        "听你说“{quote}”，我心里也跟着沉了下去。对不起，你要经历这个。",
    ),
    sad=("“{quote}”，听起来真不容易。", "嗯，“{quote}”……换谁都会不好受的。"),
    warm=("“{quote}”，哈哈，我光是想想就觉得暖。", "真好，“{quote}”，这样的小事我很爱听。"),
    bright=("哇，“{quote}”！我真替你高兴。", "太好了！“{quote}”，这值得好好庆祝一下。"),
    plain=("嗯，“{quote}”，我记下了。", "“{quote}”，原来是这样。"),
    listening=("嗯，我在听。想到哪儿说到哪儿就好。", "我在呢。今天心里装着什么？"),
    named=("{thing}，这个名字真好听。", "原来叫{thing}，我记住了。"),
    linked="这让我想起来，你说过：{told}",
    after={
        "pet": ("它最近还好吗？", "最近又闹出什么花样了吗？"),
        "family": ("家里最近都好吗？",),
        "people": ("你们最近还常联系吗？",),
        "work": ("最近工作还顺利吗？",),
        "study": ("最近进展怎么样？",),
        "health": ("现在身体好些了吗？",),
        "plan": ("现在准备得怎么样了？",),
        "birthday": ("那天你想怎么过？",),
        "": ("现在还是这样吗？", "是有什么新消息要告诉我吗？"),
    },
    asks_about_name={
        "pet": (
            "{thing}现在多大啦？",
            "{thing}还有什么让你哭笑不得的习惯？",
            "当初怎么会给它取名叫{thing}的？",
        ),
        "person": ("{thing}是个什么样的人？", "你和{thing}平时都做些什么？"),
        "": ("{thing}对你来说有什么特别的吗？",),
    },
    asks={
        "pet": ("它平时最爱黏着你做什么？", "它是怎么来到你身边的？"),
        "family": ("你们平时亲近吗？", "说起家里人，你现在是什么心情？"),
        "people": ("你们是怎么认识的？",),
        "work": ("做这件事的时候，你最喜欢哪一部分？", "接下来有什么打算？"),
        "study": ("现在最让你上心的是哪一门？",),
        "health": ("现在感觉怎么样，有人陪着你吗？",),
        "plan": ("最让你期待的是什么？",),
        "home": ("那里的什么让你最喜欢？",),
        "": ("能再跟我多讲一点吗？", "当时你是什么感觉？", "后来呢？"),
    },
    asks_gently=("现在有人陪着你吗？", "你想从哪儿说起都行，我在听。", "此刻你最需要什么？"),
    after_gently=("想起这件事，你现在心里还好吗？", "想说多少都可以，我陪着你。", "这些天，你是怎么过来的？"),
    your_name=("你是{user}呀，我当然记得。", "你叫{user}，这个我不会忘的。"),
)

EN = Phrases(
    crisis=(
        "{name}thank you for telling me this. You matter to me. I'm an AI and can't sit beside you,"
        " so please reach out right now to someone you trust, and let them be with you. If you "
        "might hurt yourself, call your local emergency number or a crisis line at once. I'm here "
        "and I'm listening. Are you safe right now?",
    ),
    cared=(
        "I'm listening, and what you told me stays with me. {name}I'm an AI and can't take the place of somebody who "
        "sits beside you: is there anyone you could call today? If it gets too heavy again, your local emergency "
        "number and a crisis line are there at any hour. How are you right now?",
        "I'm glad you are still talking to me. You don't have to carry this alone. {name}I'm only an AI, so I hope "
        "that someone near you knows about it, too; if you might hurt yourself, please call your local emergency "
        "number or a crisis line first. Are you safe at this moment?",
    ),
    remembers=(
        "I remember you told me: {told}",
        "Of course I remember. You told me: {told}",
        "I do. You told me this: {told}",
    ),
    remembers_words=(
        "I remember you told me: “{told}”",
        "Of course. In your own words: “{told}”",
    ),
    senses=("I've had this feeling: {told}",),
    also="And also: {told}",
    remembers_nothing=(
        "I don't remember anything about that. I don't think you've told me yet. Would you? I'll keep it.",
        "I looked, and there is nothing about that in my memory. I'd rather not pretend. Will you tell me?",
    ),
    remembers_other=(
        "I have no memory of that, and I'd rather not pretend. What I do remember: {told} Will you tell me?",
        "I don't know anything about that yet. What I do remember: {told} Will you tell me the rest?",
    ),
    who=(
        "I'm {persona}. To be honest with you, I'm an AI, but what you tell me I keep carefully. "
        "What would you like to talk about?",
        "My name is {persona}, and I'm an AI who listens and remembers for you. Where shall we start today?",
    ),
    how_are_you=(
        "I'm here, and the better for seeing you. How was your day?",
        "I'm well, thank you for asking. What has been on your mind today?",
    ),
    greeting=(
        "Hi {name}it's good to see you. How was your day?",
        "Hello {name}I'm glad you're here. What's new?",
    ),
    greeting_again=(
        "Hi {name}it's good to see you. I was still thinking of what you told me: {told} How has that been?",
        "Hello again, {name}I remember you told me: {told} How are things now?",
    ),
    thanks=("You're always welcome. I like hearing from you.", "Thank you for telling me. I mean it."),
    goodbye=(
        "Rest well. I'll keep what you told me, and we'll go on next time.",
        "See you soon, {name}take good care of yourself.",
    ),
    forgetting=(
        "All right. What goes is yours to decide: look at it first, then confirm. Until then nothing is gone.",
        "I understand. I forget nothing behind your back: see what would go, then decide.",
    ),
    no_answer=(
        "I can't really answer that one: no language model is connected, so I can only listen and remember. "
        "What do you think yourself?",
        "I don't want to make something up. Without a model I'm better at keeping what you tell me. "
        "What's your own feeling about it?",
    ),
    heavy=(
        "“{quote}” … I hear you. That is so much to carry. Thank you for not keeping it to yourself.",
        "Oh. “{quote}” … I'm so sorry that you have to go through this.",
    ),
    sad=("“{quote}”, that sounds really hard.", "“{quote}” … anyone would be hurting after that."),
    warm=("“{quote}”, that makes me smile.", "I love that. “{quote}”, I can picture it."),
    bright=(
        "“{quote}”! I'm so happy for you.",
        "Oh, that's wonderful! “{quote}”, that deserves a celebration.",
    ),
    plain=("“{quote}”, I'll remember that.", "I see. “{quote}”, thank you for letting me know."),
    listening=("I'm listening. Just say whatever comes to mind.", "I'm here. What is on your mind today?"),
    named=("{thing}, what a lovely name.", "{thing}! I won't forget that name."),
    linked="It reminds me of something you told me: {told}",
    after={
        "pet": ("How is your little one these days?", "Any new mischief lately?"),
        "family": ("How is everyone doing these days?",),
        "people": ("Are you two still close?",),
        "work": ("How has it been going lately?",),
        "study": ("How is it coming along?",),
        "health": ("Are you feeling better now?",),
        "plan": ("How is it coming along?",),
        "birthday": ("How would you like to spend that day?",),
        "": ("Is it still like that?", "Is there something new to tell?"),
    },
    asks_about_name={
        "pet": (
            "How old is {thing} now?",
            "What else does {thing} get up to?",
            "How did {thing} get that name?",
        ),
        "person": ("What is {thing} like?", "What do you and {thing} like to do together?"),
        "": ("What makes {thing} special to you?",),
    },
    asks={
        "pet": ("How did the two of you find each other?", "What do you like most about having one around?"),
        "family": ("Are you close?", "How do you feel when you think of them?"),
        "people": ("How did you two meet?",),
        "work": ("Which part of it do you like best?", "What comes next there?"),
        "study": ("Which part of it has you most curious?",),
        "health": ("How are you feeling now? Is someone with you?",),
        "plan": ("What are you looking forward to most?",),
        "home": ("What do you like best about it there?",),
        "": ("Tell me a little more?", "How did that feel?", "What happened then?"),
    },
    asks_gently=(
        "Is someone with you right now?",
        "Start wherever you like; I'm listening.",
        "What do you need most at this moment?",
    ),
    after_gently=(
        "How are you carrying it now?",
        "We can stay with it as long as you like.",
        "How does it sit with you today?",
    ),
    your_name=("You're {user}. I wouldn't forget that.", "Your name is {user}, of course."),
)
