"""Pairs of names in their memories, and whether both mean the same: what the similarity tier is measured on.

Written by hand on 2026-11-22, as extraction would write them, before any rule was chosen. `with_one` and `with_other`
are the names of others in the same memories.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """Two names, each with the memories it occurs in."""

    language: str
    same: bool
    kind: str
    one: Sequence[str]
    in_one: Sequence[str]
    other: Sequence[str]
    in_other: Sequence[str]
    with_one: Sequence[str] = ()
    with_other: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.language}: {self.one[0]} {'=' if self.same else '/'} {self.other[0]}"


def _pair(
    language: str, same: bool, kind: str, one: str, in_one: str, other: str, in_other: str,
    with_one: Sequence[str] = (), with_other: Sequence[str] = (),
) -> Pair:  # fmt: skip
    """Names and memories are separated by " | "."""
    parts = [tuple(text.split(" | ")) for text in (one, in_one, other, in_other)]
    return Pair(language, same, kind, *parts, tuple(with_one), tuple(with_other))


PAIRS = [
    # --- English, the same --------------------------------------------------------------------------------------
    _pair("en", True, "person", "Scott", "Scott is Ana's new manager at the bank.",
          "Scott Huang", "Scott Huang is Ana's manager at the bank."),
    _pair("en", True, "person", "Scott", "Ana's colleague Scott plays badminton with her on Thursdays.",
          "Scott Huang", "Ana plays badminton with her colleague Scott Huang on Thursdays.", ["Lily"], ["Lily"]),
    _pair("en", True, "person", "Jon",
          "Jon taught Ana how to sail.", "John", "Ana's sailing teacher John has a new boat."),
    _pair("en", True, "person", "Katherine", "Ana's sister Katherine lives in Lyon.",
          "Catherine", "Catherine, Ana's sister, is expecting a baby in Lyon."),
    _pair("en", True, "person", "Sara", "Ana quarrelled with her flatmate Sara about the dishes.",
          "Sarah", "Ana's flatmate Sarah moved out."),
    _pair("en", True, "person", "Bob", "Ana's uncle Bob repairs old clocks in his garage.",
          "Robert", "Ana's uncle Robert repairs old clocks in his garage in Leeds."),
    _pair("en", True, "person", "Liz", "Ana's therapist Liz told her to keep a diary.",
          "Elizabeth", "Ana's therapist Elizabeth asked to see her diary."),
    _pair("en", True, "person", "Dr. Patel", "Dr. Patel treats Ana's migraine.",
          "Anil Patel", "Anil Patel, the doctor who treats Ana's migraine, changed her pills."),
    _pair("en", True, "person", "Noor", "Ana got engaged to Noor in Rome.",
          "Noor Hassan", "Ana's fiancé Noor Hassan starts a new job in May."),
    _pair("en", True, "person", "Mick", "Mick plays the drums in Ana's band.",
          "Mike", "Mike, who plays the drums in Ana's band, broke his wrist."),
    _pair("en", True, "pet", "Blackie", "Ana's cat Blackie sleeps on her face at night.",
          "Blacky", "Ana's cat Blacky slept on her face again."),
    _pair("en", True, "pet", "Max", "Ana's dog Max is afraid of thunder.",
          "Maximilian", "Ana's dog Maximilian hid under the bed during the thunder."),
    _pair("en", True, "place", "Cafe Luna", "Ana writes every Sunday in Cafe Luna.",
          "Luna", "Ana writes every Sunday in the café Luna."),
    _pair("en", True, "org", "Northwind", "Ana works as an accountant at Northwind.",
          "Northwind Traders", "Ana works as an accountant at Northwind Traders."),
    _pair("en", True, "person", "Christopher", "Ana's landlord Christopher raised the rent.",
          "Cristopher", "Ana's landlord Cristopher wants the rent in cash."),
    # --- English, different ------------------------------------------------------------------------------------
    _pair("en", False, "person", "Anna",
          "Ana's sister Anna lives in Lyon.", "Bea", "Ana's sister Bea lives in Lyon."),
    _pair("en", False, "person", "Anna", "Ana's sister Anna lives in Lyon with Max.",
          "Bea", "Ana's sister Bea lives in Lyon with Max.", ["Max"], ["Max"]),
    _pair("en", False, "person", "Tom", "Ana had lunch with Tom.", "Noor", "Ana had lunch with Noor."),
    _pair("en", False, "person", "Tom", "Ana had a quarrel with her colleague Tom about the budget.",
          "Tim", "Ana had a quarrel with her colleague Tim about the budget."),
    _pair("en", False, "person", "Scott Huang", "Scott Huang is Ana's dentist in Shanghai.",
          "Scott Miller", "Scott Miller is Ana's dentist in Shanghai."),
    _pair("en", False, "person", "Scott Huang", "Scott Huang plays badminton with Ana.",
          "Lily Huang", "Lily Huang plays badminton with Ana.", ["Omar"], ["Omar"]),
    _pair("en", False, "person", "Paul", "Paul is Ana's neighbour and grows tomatoes.",
          "Paula", "Paula is a nurse who looked after Ana's mother."),
    _pair("en", False, "person", "Daniel", "Ana's brother Daniel studies law.",
          "Daniela", "Ana's boss Daniela praised her report."),
    _pair("en", False, "person", "Julia", "Ana's cousin Julia got married in June.",
          "Julian", "Julian, Ana's ex, wrote to her again."),
    _pair("en", False, "person", "Maria",
          "Maria cleans Ana's office.", "Mario", "Mario runs the pizzeria Ana likes."),
    _pair("en", False, "person", "Emma", "Emma is the daughter of Ana's best friend.",
          "Gemma", "Gemma interviewed Ana for the new job."),
    _pair("en", False, "person", "Mia",
          "Ana's niece Mia started school.", "Leo", "Ana's nephew Leo started school."),
    _pair("en", False, "person", "Scott", "Scott is the baker in Ana's street.",
          "Scott Brown", "Scott Brown is a surgeon who operated on Ana's father."),
    _pair("en", False, "pet", "Milo",
          "Ana's cat Milo is three years old.", "Otis", "Ana's cat Otis is three years old."),
    _pair("en", False, "pet", "Rex", "Ana's dog Rex is afraid of rain.",
          "Bella", "Ana's dog Bella loves to swim in the lake."),
    _pair("en", False, "place", "Lyon",
          "Ana spent a weekend in Lyon.", "Lima", "Ana spent a weekend in Lima."),
    _pair("en", False, "place", "Paris", "Ana studied in Paris for a year.",
          "Rome", "Ana wants to travel to Rome for her birthday."),
    _pair("en", False, "org", "Acme",
          "Ana applied for a job at Acme.", "Initech", "Ana applied for a job at Initech."),
    _pair("en", False, "person", "Omar", "Omar, Ana's husband, snores.",
          "Kofi", "Kofi gives Ana violin lessons on Mondays."),
    # --- Chinese, the same --------------------------------------------------------------------------------------
    _pair("zh", True, "person", "逸扬", "逸扬是Ana的同事，两人周四一起打羽毛球。",
          "黄逸扬", "Ana的同事黄逸扬周四和她一起打羽毛球。"),
    _pair("zh", True, "person", "小云", "Ana的妹妹小云在杭州读大学。",
          "李小云", "Ana的妹妹李小云在杭州读大学，学法律。"),
    _pair("zh", True, "person", "阿强", "Ana的表哥阿强在深圳开了一家修车店。",
          "王强", "Ana的表哥王强在深圳的修车店生意很好。"),
    _pair("zh", True, "person", "老周", "老周是Ana的部门经理，经常让她加班。",
          "周明", "Ana的部门经理周明又让她加班到十点。"),
    _pair("zh", True, "person", "思远", "Ana和男朋友思远去了厦门看海。", "陈思远", "Ana的男朋友陈思远想去厦门看海。"),
    _pair("zh", True, "person", "张医生", "张医生给Ana开了治偏头痛的药。",
          "张建国", "治Ana偏头痛的医生张建国给她换了药。"),
    _pair("zh", True, "pet", "小黑", "Ana养了一只白猫小黑，半夜老跳到她脸上。",
          "黑黑", "Ana的白猫黑黑昨晚又跳到她脸上。"),
    _pair("zh", True, "place", "外滩", "Ana每个周末都去外滩跑步。", "上海外滩", "Ana每个周末都去上海外滩跑步。"),
    _pair("zh", True, "org", "启明", "Ana在启明做会计。", "启明科技", "Ana在启明科技做会计。"),
    _pair("zh", True, "person", "林老师", "林老师教Ana的女儿弹钢琴。", "林婉", "教Ana女儿弹钢琴的老师叫林婉。"),
    # --- Chinese, different -------------------------------------------------------------------------------------
    _pair("zh", False, "person", "小云", "Ana的妹妹小云在杭州读大学。", "小雨", "Ana的妹妹小雨在杭州读大学。"),
    _pair("zh", False, "person", "李娜", "Ana和李娜一起吃了午饭。", "王芳", "Ana和王芳一起吃了午饭。"),
    _pair("zh", False, "person", "李娜", "Ana和李娜一起去爬山，还带上了小宝。",
          "王芳", "Ana和王芳一起去爬山，还带上了小宝。", ["小宝"], ["小宝"]),
    _pair("zh", False, "person", "张伟", "张伟是Ana的大学同学，在北京当律师。",
          "张伟明", "张伟明是Ana楼下的邻居，养了很多花。"),
    _pair("zh", False, "person", "王强", "Ana的表哥王强在深圳开修车店。", "王刚", "Ana的同事王刚要辞职了。"),
    _pair("zh", False, "person", "陈静", "陈静是Ana的高中同桌。", "陈敬", "陈敬是Ana公司的保安。"),
    _pair("zh", False, "person", "妞妞", "Ana的女儿妞妞上幼儿园了。", "豆豆", "Ana的侄子豆豆上幼儿园了。"),
    _pair("zh", False, "person", "老周", "老周是Ana的部门经理，经常让她加班。",
          "老王", "老王是Ana的邻居，喜欢下象棋。"),
    _pair("zh", False, "person", "刘洋", "刘洋教Ana游泳。", "杨柳", "杨柳是Ana的心理咨询师。"),
    _pair("zh", False, "person", "外婆王桂花", "Ana的外婆王桂花去世了。", "李大山", "Ana的外公李大山去世了。"),
    _pair("zh", False, "pet", "小黑", "Ana养了一只猫叫小黑。", "小白", "Ana养了一只猫叫小白。"),
    _pair("zh", False, "pet", "旺财", "Ana的狗旺财怕打雷。", "咪咪", "Ana的猫咪咪爱睡在键盘上。"),
    _pair("zh", False, "place", "杭州", "Ana周末去了杭州。", "苏州", "Ana周末去了苏州。"),
    _pair("zh", False, "place", "厦门", "Ana想和男朋友去厦门看海。", "成都", "Ana在成都吃了火锅。"),
    _pair("zh", False, "org", "启明科技", "Ana在启明科技做会计。", "蓝海银行", "Ana在蓝海银行有一笔贷款。"),
    # --- both scripts, the same ---------------------------------------------------------------------------------
    _pair("mixed", True, "person", "Yiyang", "Yiyang works with Ana in the marketing team.",
          "黄逸扬", "黄逸扬是Ana市场部的同事。"),
    _pair("mixed", True, "person", "Huang Yiyang", "Huang Yiyang invited Ana to his wedding.",
          "逸扬", "逸扬邀请Ana参加他的婚礼。"),
    _pair("mixed", True, "person", "Yiyang Huang",
          "Ana met Yiyang Huang at a conference.", "黄逸扬", "Ana很佩服黄逸扬。"),
    _pair("mixed", True, "person", "Scott", "Scott是Ana公司的产品经理，周末常和她打羽毛球。",
          "黄逸扬", "Ana公司的产品经理黄逸扬周末和她打了羽毛球。"),
    _pair("mixed", True, "person", "Scott", "Scott和Ana在同一个项目组，他老婆叫李梅。",
          "黄逸扬", "黄逸扬和他老婆李梅请Ana吃饭，庆祝项目组的成功。", ["李梅"], ["李梅"]),
    _pair("mixed", True, "person", "Zhang Wei", "Zhang Wei is Ana's landlord.", "张伟", "Ana的房东张伟要涨房租。"),
    _pair("mixed", True, "person", "Lily", "Lily是Ana的室友，晚上总放很吵的音乐。",
          "王丽丽", "Ana的室友王丽丽晚上总放很吵的音乐。"),
    _pair("mixed", True, "place", "Hangzhou", "Ana grew up in Hangzhou.", "杭州", "Ana的老家在杭州。"),
    _pair("mixed", True, "pet", "Xiaohei", "Ana's cat Xiaohei is white.", "小黑", "Ana的白猫叫小黑。"),
    _pair("mixed", True, "person", "Kevin", "Ana的健身教练Kevin让她每周跑三次步。",
          "赵凯", "Ana的健身教练赵凯让她每周跑三次步，还要少吃糖。"),
    # --- both scripts, different ---------------------------------------------------------------------------------
    _pair("mixed", False, "person", "Scott", "Scott是Ana的健身教练。", "黄逸扬", "黄逸扬是Ana的前男友，在北京工作。"),
    _pair("mixed", False, "person", "Scott", "Ana had lunch with Scott.", "李娜", "Ana和李娜一起吃了午饭。"),
    _pair("mixed", False, "person", "Tom", "Ana和Tom一起去看了电影。", "小雨", "Ana和小雨一起去看了电影。"),
    _pair("mixed", False, "person", "Lily", "Ana的同事Lily怀孕了。", "陈静", "陈静是Ana的高中同桌。"),
    _pair("mixed", False, "person", "Amy", "Amy是Ana的同事，和李梅在一个组。",
          "赵凯", "赵凯是Ana的同事，和李梅在一个组。", ["李梅"], ["李梅"]),
    _pair("mixed", False, "person", "Wei", "Wei is a friend of Ana from the choir.", "张伟", "Ana的房东张伟要涨房租。"),
    _pair("mixed", False, "person", "Yang", "Yang sold Ana a bicycle.", "黄逸扬", "黄逸扬是Ana市场部的同事。"),
    _pair("mixed", False, "pet", "Milo", "Ana's cat Milo loves tuna.", "小黑", "Ana的白猫叫小黑，很调皮。"),
    _pair("mixed", False, "place", "Lyon", "Ana的姐姐住在Lyon。", "成都", "Ana在成都吃了火锅。"),
    _pair("mixed", False, "org", "Acme", "Ana applied for a job at Acme.", "启明科技", "Ana在启明科技做会计。"),
]  # fmt: skip
