"""Requests in Chinese: the mood of a clause, its negation, and what its verb asks for. Pure; simplified characters."""

from echovessel.language import lazy_re as re
from echovessel.language.requests.clauses import is_asked, sentence_end
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind

# --- the mood of a clause --------------------------------------------------------------------------------------------
_LEADS = (
    r"(?:(?:天哪|天啊|妈呀|永远|请永远|那么?|哦|噢|嗯+|啊|哎呀?|唉|诶|喂|嘿|好吧?|好的|算了|对不起|抱歉|不好意思|还是|"
    r"对了|还有|另外|顺便说一下|顺便|所以|但是?|可是|不过|先|就|以后|从(?:现在|今天|今)(?:起|开始|以后|往后)|今后|往后|"
    r"下次|将来|每天(?:早上|晚上)?|每晚|每次|今天|今晚|现在|这次|求求?你了?|我说|听我说|说真的|(?:[a-zA-Z]\w{1,20}|"
    r"小\w)(?=[，,]))[，,：:\s]{0,3}){0,5}"
)
_FRAME = (
    r"(?P<frame>(?:能不能|可不可以|可以不可以|可否|能否|是否可以|可以|能|请问?|麻烦|拜托|劳烦|希望|想让|想请|我要|要|"
    r"得|应该|必须|最好|帮我|替我|帮忙|给我|记得|务必|一定|千万|"
    r"我(?:真的|很|更|比较|还是)?(?:希望|想让|想请|要|想要|宁愿|需要|喜欢)|不如)(?:要|你|您|妳)?[，,]?)"
)
_MOOD = (
    rf"{_LEADS}(?P<you>你们?|您|妳)?(?:就|也|还是|以后|可以|要是|真的)?{_FRAME}{{0,3}}(?P<you2>你|您|妳)?(?:以后|"
    rf"从现在起|今后|就|也|都|再|先|还是|尽量|稍微|只要|只)?"
)
_NOT = (
    r"(?P<neg>(?:我(?:真的)?不(?:想|希望|要|愿意|喜欢)(?:让)?(?:你|您)|别再|不要再|不许再|不准再|以后别|别老是?|"
    r"别总是?|不要老是?|不要总是?|别一直|不要一直|别动不动就?|别这么|别那么|别太|不要太|不要这么|别随便|不要随便|别|"
    r"不要|不用|不许|不准|不必|不需要|少|停止|甭|勿|不)(?:再|老是?|总是?|一直|动不动就?|随便|又|这么|那么|太|每次都?)*)"
)
_MOOD_RE, _MOOD_NOT = re.compile(_MOOD), re.compile(_MOOD + _NOT)
_SOFT = re.compile(r"吧|好吗|好不好|可以吗|行吗|行不行|谢谢|拜托|哈|嘛|好么")
_ENDING = (
    r"(?:[，,\s]{0,2}(?:吧|啦|哦|噢|啊|呀|哈|嘛|好吗|好不好|可以吗|行吗|行不行|好么|谢谢[你您]?|拜托了?|了|就好了?|"
    r"就行了?)){1,4}\s*$"
)
_TRAILING = re.compile(_ENDING)

# --- forgetting ------------------------------------------------------------------------------------------------------
_GONE = (
    r"(?:忘(?:了|掉|记|干净|光|却)|删(?:了|掉|除|去|干净|光)|抹(?:掉|去|了|干净)|清(?:除|空|掉|理掉|干净)|"
    r"擦(?:掉|除|干净)|去掉|移除|抹除|划掉)"
)
_GONE_RE = re.compile(_GONE)
_KEEP = (
    r"(?:记(?:住|着|下来|下|得|录|进去|到心里|在心里|在心上|仇)?|写(?:进|到|下来)(?:你的)?(?:笔记|记忆|记录)?|录入|"
    r"保存|保留|存(?:下来|下|起来|着)?|留(?:着|下|存))"
)
_KEEP_RE = re.compile(_KEEP)
_POINT = (
    r"(?:(?:这|那)(?:话|个|件事情?|件事儿|事儿?|句话?|段话?|条(?:消息)?|些话?|一?点|一句|一条)|(?:我|咱)?(?:刚才|刚刚|"
    r"刚|上面|前面|方才)(?:我)?(?:说|讲|提|写|发|聊)?的?(?:那|这)?(?:个|句|件|些|条|段|番)?(?:话|事情?|内容|消息|"
    r"东西)?|我(?:说|讲)的(?:这|那)?(?:个|句|件|些)?(?:话|事情?)?|(?:上|前)一?(?:句|条|段)(?:话|消息)?)"
)
_POINT_RE = re.compile(_POINT)
_FROM = r"(?:从|在)?你?的?(?:记忆|脑子|脑海|心|记录|资料|数据库)(?:里|中|里面)?的?"
_MEMORY_RE = re.compile(rf"{_FROM}|你(?:知道|记得|存|记)的|告诉(?:过)?你的|跟你(?:说|讲)过?的")
_THING = re.compile(
    r"^(?:所有|一切|全部)?(?:关于|有关|跟|和|与)?(?P<x>.+?)(?:有关|相关)?(?:的(?:一切|所有(?:事|内容|信息)?|事情?儿?|"
    r"那些事|那件事|全部|内容|信息|记忆|记录|话题?)|(?:这|那)(?:件|个|些|回|码)?(?:事情?儿?|话|信息)|这一?点)?(?:都|"
    r"全|也)?$"
)
_STAYS_OUT = re.compile(
    rf"{_LEADS}(?:{_POINT}|这|那)[，,]?(?:你|您)?(?:就|还是|也|都|可以|请|麻烦)*(?:(?:别|不要|不用|不许|甭|不必|"
    rf"不准)(?:再|给我|往心里|往脑子里)?{_KEEP}(?:了|啦)?|{_GONE}(?=吧|好吗|可以吗|$)|(?:就)?(?:当|全当|权当)(?:我|你|"
    rf"作|做)*(?:没|从?未|没有)(?:跟你|和你|对你)?(?:听|说|讲|提|看|发生)\w{{0,3}})"
)
# 「五月说的」, 「上次我跟你提过的」 before a subject say when it was told, and not what.
_TOLD_AT = (
    r"(?:(?:[之以]前|上(?:次|回|周|个?月)|那(?:次|回|天|晚)|昨[天晚]|前(?:几天|阵子|段时间)|刚[才刚]|早上|去年|今年|"
    r"[一二三四五六七八九十\d]{1,3}(?:月份?|[号日])(?:[一二三四五六七八九十\d]{1,3}[号日])?)我?|我)(?:[跟和对]你)?"
    r"(?:说|讲|提|聊)(?:过|起过?|到过?)?的"
)
# "X 那件事，你给我忘了": the subject comes first.
_TOPIC_FIRST = re.compile(
    rf"(?:所以|对了|那么|那|嗯|唉|哎|还有|另外|其实)?[，,]?(?P<x>[^。！？\n，,；;]{{1,40}}?)(?:的?[这那][件个码回档]|的)事(?:情|儿)?"
    rf"[，,]?(?:你|您)?(?P<soft>就|也|都|还是|请|麻烦|帮我|替我|给我|可以)*{_GONE}(?P<after>吧|好吗|行吗|可以吗)?"
)
_PRETEND = re.compile(
    r"(?:就)?(?:当|全当|权当|装作|假装)(?:我|你|作|做|什么都)*(?:没|从?未|没有)(?:跟你|和你|对你)?(?:听|说|讲|提|"
    r"看)(?:到|见|过)?"
)

# --- names -----------------------------------------------------------------------------------------------------------
_CALL = re.compile(r"(?:叫|喊|称呼|管|唤|称)我(?:为|叫|做|作|一声)?")
_NO_NAME = re.compile(
    r"[去来回起怎别不吃睡走做帮给说想如快先再还多早一听看等干上下出进到好滚拿写买学加陪带跟和要把在的过名全姓干啥什"
    r"么为何]|别人|明天|今天|现在|大家|自己"
)
_NAME = re.compile(
    r"[“\"「'‘]?(?P<x>[A-Za-z][\w .'-]{0,24}[\w.]|[A-Za-z]|[\u3400-\u9fff·]{1,6}?)[”\"」'’]?(?P<tail>吧|就好了?|"
    r"就行了?|就可以了?|即可|好了|得了|哦|啦|哈|呀|呗|好吗|可以吗|行吗|就成)?\s*(?=[，,。！!？?~～；;]|而?不|别|$|以后)"
)
_GOES_BY = re.compile(
    rf"{_LEADS}(?:大家|朋友们?|他们|别人)都[叫喊]我(?P<x>[\u3400-\u9fff]{{2,4}}|[A-Za-z]\w*)[，,](?:你也|你)"
)

# --- standing wishes -------------------------------------------------------------------------------------------------
_CONDUCT = re.compile(
    r"(?P<matter>(?:跟我|和我|对我|在我面前|当着我的面|主动|随便|问我|向我|给我)*(?:提(?!醒|问|高|升|前|供|议|"
    r"示)(?:起|到|及|我|那|这|他|她|关于|前|有关)?|聊(?:到|起)?|谈(?:到|起|论)?|问(?:起|到)?|说(?:起|到)|讲到|打听|揭|"
    r"追问|盘问)(?!了$|$|[吧呢啦啊，,])|提醒我(?!$)|避开|回避|绕开)|(?:跟我|和我|对我|给我|向我|老是?|一直|总是?|"
    r"动不动就?|急着|忙着|马上|立刻|每次都?|就|多|好好|只|只要|静静地?|安静地?|慢慢|先|都|那么|这么|太|再|尽量|稍微|"
    r"主动)*(?:听(?:着|我(?:说|讲|倾诉|吐槽|发泄|唠叨))|听(?:就|$|[，,。！吧])|陪(?:着|伴|在)?(?:我|$|[，,。！就])|"
    r"抱(?:抱|一抱|着)?我?|安慰|哄|劝|讲(?:大)?道理|说教|教育|教训|评判|评价|批评|打断|拿我(?:跟|和|与).{1,8}比|"
    r"开[^，。]{0,8}玩笑|催|逼|敷衍|夸|撒娇|给(?:我)?(?:出)?(?:任何|什么)?(?:建议|意见|主意|压力|鸡汤|答案|时间|空间|"
    r"一点时间|点时间|点空间|一点空间|我?.{0,3}(?:鼓励|拥抱|时间|空间))|出主意|灌鸡汤|熬鸡汤|提建议|分析|解决问题|"
    r"帮我解决|否定|反驳|质疑|怼|争(?:论|吵|辩)?|吵|较劲|较真|骂|凶|嘲笑|取笑|调侃|可怜|同情|鼓励|打气|提问|追问|重复|"
    r"道歉|啰嗦|唠叨|比较|纠正|附和|吵我|烦我|管我|理我|管|客气|发(?:.{0,3}表情|那么多|这么多|长|语音|问号|感叹号)|"
    r"用(?:[\u3400-\u9fff]{1,3}语|表情|感叹号|书面|文言|敬语|您|英文|英语|中文|粤语|日语|成语|网络|大白话|简单|温柔|"
    r"那么|这么|emoji)|换成?(?:英文|英语|中文)|(?:说话?|讲话?|回复?|回答|回我|答|写|语气|话|句子|态度|消息)(?:的时候|"
    r"时|得|也|再|能|要|可以|都|就|尽量|稍微|都能|都要)*(?:短|慢|简短|简单|直接|温柔|轻|少|长|正式|随意|随便|口语|"
    r"幽默|认真|具体|坦率|诚实|客气|热情|冷静|活泼|温和|耐心|干脆|啰嗦|肉麻|做作|官方|像|跟.{1,6}一样)|(?:短|慢|简短|"
    r"直接|温柔|轻松|认真|耐心|坦率|诚实|幽默|严肃|活泼|冷静|温和|热情|正经|大方|小心|体贴|细心)(?:一?点|一?些)|"
    r"长话短说(?=吧|$|[。！])|(?:少|多)(?:说|听|讲|问)(?:一?点|一?些)?[，,]?(?:多|少)(?:听|说|讲|问)(?:一?点|一?些)?|"
    r"说(?:(?:英文|英语|中文|粤语|实话|真话|人话|重点)(?=吧|好吗|行吗|$|[，,。！!就]$)|脏话|大道理|教|那种|这种|什么|"
    r".{0,6}(?:加油|没关系|想开|正常|坚强|会好))|跟我(?:说|讲)(?:英文|英语|中文|粤语)|把我(?:当|看)|拐弯抹角|绕弯子|"
    r"绕圈子|一次问|(?:那么|这么|太)[\u3400-\u9fff]{1,4}$|说多听|(?:像|当|做|扮演).{0,8}(?:朋友|姐姐|哥哥|闺蜜|兄弟|"
    r"家人|聊天|说话)|站在我(?:这)?边|相信我|理解我|让我(?:静静|静一静|一个人|自己|冷静|先说|说完|发泄|哭)|安静|闭嘴|"
    r"等我(?:说完|冷静|缓)|沉默|说(?:早安|晚安)|问候|跟我说(?:早安|晚安|早|加油)|给我讲(?:个)?(?:笑话|故事)|"
    r"讲(?:个)?(?:笑话|故事)|拍拍我|(?:在|陪)我身边|替我(?:着急|做决定|决定))"
)
_MATTER = re.compile(
    r"(?:跟我|和我|对我|在我面前|当着我的面|主动|随便|老是?|一直|总是?|再|给我|向我|问我|动不动就?)*(?:提|聊|谈|问|"
    r"说起|说到|讲到|打听|揭|追问|盘问)"
)
_FOREVER = re.compile(
    r"以后|今后|往后|从(?:现在|今天|今)(?:起|开始|往后)|总是|永远|每次|每当|每天|每晚|每个|每句|下次|再也|一直|别再|"
    r"不要再|别老|别总|不要老|不要总|凡是|只要|平时|动不动|老是|老[问说提讲劝]|总[问说提讲劝]|一.{1,8}就|时候"
)
_MANNER = re.compile(
    r"(?:跟我|和我|对我|给我)*(?:(?:说话?|讲话?|回复?|回答|回我|答|写|语气|话|句子|态度|消息)(?:的时候|时|得|也|再|能|"
    r"要|可以|都|就|尽量|稍微)*\w{0,3}(?:一?点|一?些|像|短|慢|少|简短)|(?:短|慢|简短|直接|温柔|轻松|认真|耐心|坦率|"
    r"诚实|幽默|严肃|活泼|冷静|温和|热情|正经|大方|小心|体贴|细心)(?:一?点|一?些)|长话短说(?=吧|$|[。！])|用(?:英文|"
    r"英语|中文|粤语|大白话|简单)|说(?:英文|英语|中文|粤语)|跟我(?:说|讲)(?:英文|英语|中文|粤语))"
)
_SIMPLE = re.compile(
    rf"{_MOOD}(?:只要|只|就|静静地?|安静地?|好好|光|仅仅)?(?:听(?:着|我说|我讲|我(?:倾诉|吐槽|发泄))|陪(?:着|"
    rf"在)?我(?:身边)?)(?:就好了?|就行了?|就可以了?|就够了|吧|好吗|就成|好不好)?[，,。！!]?$"
)
_CONDITION = re.compile(
    rf"{_LEADS}(?P<c>(?:(?:每次|每当|当|如果|要是|只要(?!听|陪)|一旦|下次|万一|假如|凡是|等)(?:我们|咱们|我|你|咱|有人|"
    rf"大家|家里|再|聊|说|提|谈|看|遇|晚上|一|的)?[^，,。！？!?；;]{{0,40}}?(?:的?时候?|的话|之后|以后|时|就|，|,)|"
    r"我?一[^，,。！？!?；;]{1,8}?(?=你?就|[，,])[，,]?|(?:我们|咱们|我|你|有人|家里人?|晚上|早上|半夜|睡前|心情|周末|"
    r"聊|说|谈|提)[^，,。！？!?；;]{0,30}?(?:的时候|的话|时(?=[，,]|你|别|先|请|就|不|陪|只|多|要)|"
    r"(?<=[气过心])了(?=[，,]|你|就|别))|一(?:聊|说|谈|提|讲)(?:到|起)[^，,。！？!?；;]{1,16}?(?:[，,]|就|你|，)|(?:聊|"
    r"说|谈|提|讲|问)(?:到|起)[^，,。！？!?；;]{1,16}?(?:的时候|时|的话|[，,])))[，,：:\s]{0,2}"
)
_FEELING = re.compile(
    r"难过|伤心|难受|生气|哭|焦虑|害怕|紧张|压力|崩溃|孤独|寂寞|孤单|抑郁|低落|沮丧|烦|累|开心|高兴|激动|委屈|心情|"
    r"情绪|失眠|痛苦|绝望|失落|恐慌|发火|愤怒|自责|迷茫|慌|不舒服|不好受|郁闷|心烦|想哭|发脾气|这样|不开心|难熬|"
    r"撑不住|空落落|发作"
)
_PERSON = re.compile(
    r"爸|妈|父|母|哥|弟|姐|妹|爷|奶|外公|外婆|姥|老公|老婆|丈夫|妻子|男友|女友|男朋友|女朋友|前任|前夫|前妻|前男友|"
    r"前女友|儿子|女儿|孩子|舅|姨|叔|姑|婆婆|公公|岳|表[哥弟姐妹]|堂[哥弟姐妹]|老板|领导|同事|朋友|闺蜜|"
    r"[小阿老][\u3400-\u9fff]"
)


def condition_of(words: str) -> Condition:
    """What kind of condition these words are."""
    words = re.sub(r"[，,：:\s]+$", "", words)
    if not words:
        return ALWAYS
    if _PERSON.search(words) and not _FEELING.search(words):
        return Condition("person", words)
    return Condition("feeling" if _FEELING.search(words) else "topic", words)


def condition_in(sentence: str) -> Condition:
    """The condition under which the request of the sentence holds."""
    match = _CONDITION.match(sentence)
    return condition_of(match["c"].removesuffix("就")) if match else ALWAYS


def read_clause(text: str, start: int) -> Request | None:
    """The request of the clause at `start`, except requests to remember and corrections."""
    end = sentence_end(text, start)
    if not re.search(r"[\u3400-\u9fff]", text[start:end]):
        return None
    return _forget(text, start, end) or _name(text, start, end) or _wish(text, start, end)


def _request(
    text: str, kind: RequestKind, start: int, begins: int, ends: int, *, sure: bool = True, **more: object
) -> Request | None:
    """The request with the subject `text[begins:ends]`; None if it is not sure."""
    if not sure:
        return None
    subject = _TRAILING.sub("", text[begins:ends]).strip(' ，,。！!？?：:；;“”"「」~～…')
    at = text.find(subject, begins) if subject else -1
    return Request(kind, start, max(ends, start + 1), subject, subject_start=at, **more)  # type: ignore[arg-type]


def _forget(text: str, start: int, end: int) -> Request | None:
    sentence = text[start:end]
    questioned = is_asked(text, start) and not re.search(
        r"能不能|可不可以|能否|可以|能|好吗|行吗|好不好|行不行|麻烦|请", sentence
    )
    if questioned or re.match(r"(?:要是|如果|真希望)能", sentence):
        return None
    topic = _TOPIC_FIRST.match(text, start)
    if (
        topic
        and (topic["soft"] in ("请", "麻烦", "帮我", "替我", "给我") or topic["after"])
        and topic["x"][0] not in "把将"
    ):
        return _thing(text, start, topic.start("x"), topic.end("x"), sure=True)
    if match := _STAYS_OUT.match(text, start):
        rest = text[match.end() : end]
        if re.fullmatch(r"(?:进去|下来|了|吧|哈|哦|啊|好吗|过|的?话|一样|[，,].*|好了|就行|可以吗|到|见|\s)*", rest):
            return Request(RequestKind.FORGET_THIS, start, end, "")
    match = _MOOD_RE.match(text, start)
    begins = match.end() if match else start
    soft = bool(match and (match["frame"] or match["you"] or match["you2"])) or bool(_SOFT.search(sentence))
    if soft and (pretend := _PRETEND.match(text, begins)):
        return Request(RequestKind.FORGET_THIS, start, max(end, pretend.end()), "")
    not_ = _MOOD_NOT.match(text, start)
    # 别记…, 不要存…
    if (
        not_
        and not not_["neg"].endswith("少")
        and not_["neg"] not in ("不", "停止不")
        and (keep := _KEEP_RE.match(text, not_.end()))
    ):
        return _object(text, start, keep.end(), end, soft=True, verb=keep[0])
    if not_ and (moved := re.compile(rf"把(?P<x>[^，,。！？]{{1,30}}?)(?:也|都)?{_KEEP}").match(text, not_.end())):
        return _thing(text, start, moved.start("x"), moved.end("x"), sure=True)
    # 把…忘了
    if match and (
        moved := re.compile(
            rf"(?:把|将)(?P<x>[^。！？\n]{{1,40}}?)[，,]?(?:都|也|全|给我|彻底|统统|全部|通通|一并|"
            rf"给)*(?:{_FROM})?(?:都|全|给我|彻底)*{_GONE}"
        ).match(text, begins)
    ):
        is_named = re.search(r"关于|有关|一切|所有|(?:的|这|那)[件个些]?事|记忆|我(?:说|告诉|跟你|对)", moved[0])
        return _thing(text, start, moved.start("x"), moved.end("x"), sure=soft or bool(is_named))
    gone = re.compile(rf"(?:从{_FROM})?(?P<v>{_GONE})").match(text, begins)
    if (
        gone
        and match
        and (match["you"] or match["you2"])
        and gone["v"] == "忘了"
        and not match["frame"]
        and not _SOFT.search(sentence)
    ):
        return None  # 你忘了这件事 is no order
    if gone is None or (not_ and not_.end() > begins and _GONE_RE.match(text, not_.end())):
        return None
    if re.match(
        r"说|带|拿|吃|做|问|要|去|关(?!于)|买|吧|啦|呢|呗|时间|自己|初心|回|给(?!你说)|跟你说[，,]|告诉你[，,]|看|写|"
        r"过去|烦恼|一切吧?$|它?吧?$",
        text[gone.end() : end],
    ):
        return None
    return _object(text, start, gone.end(), end, soft=soft, verb=gone["v"])


def _object(text: str, start: int, begins: int, end: int, *, soft: bool, verb: str) -> Request | None:
    """The request to forget the object that begins at `begins`, after its verb."""
    rest = text[begins:end]
    if re.match(r"[，,；;]", rest) and not re.match(r"[，,；;]\s*(?:关于|有关|我(?:说|告诉))", rest):
        rest = ""  # what follows a pause is no object: 别记着，丢人
    bare = _TRAILING.sub("", rest).strip("，, 吗么呢")
    if re.match(r"(?:账|仇|恨|错|我吧?$|我们吧?$|他吧?$|她吧?$|得我|性)", bare) or verb == "记仇":
        return None
    if not bare:
        is_kept = verb.startswith(("记", "存", "保", "留")) and (rest or len(verb) > 1)
        return Request(RequestKind.FORGET_THIS, start, end, "") if is_kept else None
    head = re.split(r"[，,；;]", bare)[0]
    if not soft and (re.match(r"[他她它]", head) or re.search(r"[，,；;]", bare)) and re.search(r"了$", verb):
        return None  # 忘了这件事，今天才想起来
    if verb.startswith("删了") and not soft and not _MEMORY_RE.search(rest):
        return None
    if _POINT_RE.fullmatch(head) or _POINT_RE.fullmatch(_TRAILING.sub("", head)):
        return Request(RequestKind.FORGET_THIS, start, end, "")
    marked = re.search(r"关于|有关|一切|所有|的(?:事|话)|[这那][件个些回]?事|我(?:说|告诉|跟你)过|这一?点", head)
    clause = re.match(r"我(?:妈|爸|家|儿子|女儿|们)?.{2,}", head)
    sure = bool(marked) or soft or (verb in ("忘掉", "忘记") and bool(clause))
    if not sure or (verb.startswith("删") and not marked and not _MEMORY_RE.search(rest) and not re.match("我", head)):
        return None
    return _thing(text, start, begins, begins + (len(head) if marked or not clause else len(bare)))


def _thing(text: str, start: int, begins: int, ends: int, *, sure: bool = True) -> Request | None:
    """The request to forget what `text[begins:ends]` names, without "everything about"."""
    words = text[begins:ends]
    if _POINT_RE.fullmatch(words):
        return Request(RequestKind.FORGET_THIS, start, max(ends, start + 1), "") if sure else None
    head = re.match(
        rf"(?:{_FROM}|(?:你(?:知道|记得)的|我(?:告诉|跟|对)(?:过)?你(?:说|讲)?(?:过)?的?|我说过的?)?(?:所有|一切|"
        rf"全部)?(?:关于|有关))+|{_TOLD_AT}",
        words,
    )
    lead = head.end() if head else 0
    match = _THING.match(words[lead:].strip())
    inner = match["x"] if match else words[lead:]
    at = text.find(inner, begins + lead)
    return _request(text, RequestKind.FORGET, start, at, at + len(inner), sure=sure) if inner else None


def _name(text: str, start: int, end: int) -> Request | None:
    if match := _GOES_BY.match(text, start):
        return Request(RequestKind.NAME, start, match.end(), match["x"], subject_start=match.start("x"))
    mood, not_ = _MOOD_RE.match(text, start), _MOOD_NOT.match(text, start)
    if not_ and (call := _CALL.match(text, not_.end())):
        instead = re.compile(
            r".*[，,](?:就|请|要|改)?(?:叫我?|喊我?)(?P<x>[\u3400-\u9fff]{1,5}?|[A-Za-z]\w*)(?:吧|就好|就行|好了)?$"
        ).match(text[start:end])
        if instead and not _NO_NAME.match(instead["x"]):
            at = start + instead.start("x")
            return Request(RequestKind.NAME, start, end, instead["x"], subject_start=at)
        if len(text[call.end() : end].strip()) and not re.match(r"[去来回起做]", text[call.end() :]):
            return _request(text, RequestKind.WISH, start, not_.start("neg"), end, is_boundary=True)
        return None
    call = _CALL.match(text, mood.end()) if mood else None
    if mood is None or call is None:
        return None
    match = _NAME.match(text, call.end())
    if match is None or _NO_NAME.match(match["x"]):
        return None
    is_asking = is_asked(text, start) and not re.search("能|可以|好吗|行吗|好不好", text[start:end])
    framed = bool(mood["frame"] or mood["you"] or mood["you2"] or match["tail"]) or bool(
        re.search("以后|今后|从现在", mood[0])
    )
    is_name = framed or re.match(r"[小阿老大]|[A-Z]", match["x"]) is not None
    if is_asking or not is_name:
        return None
    return Request(RequestKind.NAME, start, match.end(), match["x"].strip(), subject_start=match.start("x"))


def _wish(text: str, start: int, end: int) -> Request | None:
    sentence = text[start:end]
    if is_asked(text, start) and not re.search(
        r"能不能|可不可以|能否|能|可以|好吗|行吗|好不好|行不行|麻烦|请", sentence
    ):
        return None
    condition, begins = ALWAYS, start
    if before := _CONDITION.match(text, start):
        condition, begins = condition_of(before["c"].removesuffix("就")), before.end()
        if text[before.end() - 1] == "就":
            begins -= 1
    if re.match(r"(?:那|嗯|哎|不是)?[，,]?你?(?:先)?听(?:着[，,]|我(?:说|讲)$|我(?:说|讲)[，,。])", text[begins:end]):
        return None
    if _SIMPLE.match(text[begins:end]) and not re.match(r".{0,6}(?:能不能)?陪我", text[begins:end]):
        return _wished(text, start, begins, end, condition, sure=True, boundary=False)
    mood, not_ = _MOOD_RE.match(text, begins), _MOOD_NOT.match(text, begins)
    forever = bool(_FOREVER.search(sentence)) or condition is not ALWAYS
    if not_ and (deed := _CONDUCT.match(text, not_.end())):
        plain = text[not_.start("neg") : end]
        if not_["neg"] == "不":
            return None
        if not_["you"] is None and re.match(r"(?:不用|不必|不需要)", not_["neg"]) and not forever:
            return None
        if deed["matter"]:
            passing = bool(re.match(r"[^，,]{1,3}了(?:[，,]|$)", plain))
        else:
            passing = not forever and re.search(r"(?:了|我)[。！!]?$", re.split(r"[，,]", plain)[0]) is not None
        return _wished(text, start, begins, end, condition, sure=not passing, boundary=True)
    if (
        not_
        and not_["neg"][0] in "别不"
        and not_["neg"] != "不"
        and re.search("我|每|总|老|问|说|消息|回复", text[not_.end() : end])
    ):
        # A prohibition of another kind: the persona may at most ask about it.
        plain = text[not_.start("neg") : end]
        if not re.match(r"(?:别|不要)(?:再|老|总)*(?:忘|记|怪|恨|骗|离|丢|逗|打|杀|信|等|跟别人|让)", plain):
            lasting = re.search(r"再|老|总|每|永远|以后", plain) is not None or condition is not ALWAYS
            return _wished(text, start, begins, end, condition, sure=lasting and "我" in plain, boundary=True)
    deed = _CONDUCT.match(text, mood.end()) if mood else None
    if mood is None or deed is None:
        return None
    framed = bool(mood["frame"] or mood["you"] or mood["you2"])
    if deed["matter"] and deed[0].endswith("提醒我") and condition is not ALWAYS:
        return _wished(text, start, begins, end, condition, sure=True, boundary=False)
    if deed["matter"] and re.match("避开|回避|绕开", deed[0]):
        return _wished(text, start, begins, end, condition, sure=framed or forever, boundary=True)
    if deed["matter"] and deed[0].endswith("提醒我") and re.search("每天|每晚|每次|每周|每个", sentence):
        return _wished(text, start, begins, end, condition, sure=True, boundary=False)
    if deed["matter"]:
        if not (forever and framed) or re.search("再(?:说|聊|谈)", deed[0]):
            return None
        return _wished(text, start, begins, end, condition, sure=bool(condition is not ALWAYS), boundary=False)
    manner = _MANNER.match(text[mood.end() : end]) is not None
    if re.match(r"(?:给我)?讲(?:个|一个)|抱抱|安慰|闭嘴|安静|陪我|鼓励", text[mood.end() : end]) and not forever:
        return None
    if not (manner or forever):
        return None
    spoken = re.search(r"说|讲|回|答|写|语气|话|句|用|对我|跟我|以后|你", sentence)
    return _wished(text, start, begins, end, condition, sure=forever or bool(manner and spoken), boundary=False)


def _wished(
    text: str, start: int, begins: int, end: int, condition: Condition, *, sure: bool, boundary: bool
) -> Request | None:
    lead = re.compile(
        r"(?:(?:那么?|哦|噢|嗯+|啊|哎呀?|唉|喂|嘿|好吧|好的|算了|对了|还有|另外|所以|但是?|可是|不过|以后|今后|请|"
        r"麻烦|拜托|从现在起|从现在开始|从今天起|下次|你就|你)[，,：:\s]{0,2}){0,4}"
    ).match(text, begins)
    at = lead.end() if lead and lead.end() < end else begins
    if re.match(r"(?:[^，,]{1,12}(?:的时候|时))?[他她它]", text[at:end]):
        return None  # 吵架的时候他居然提这个 reports an event
    if condition is ALWAYS and boundary and _PERSON.search(text[at:end]) and _MATTER.search(text[at:end]):
        person = re.search(rf"(?:我)?(?:\w?(?:{_PERSON.pattern})\w?)", text[at:end])
        condition = Condition("person", person[0]) if person else condition
    return _request(text, RequestKind.WISH, start, at, end, condition=condition, sure=sure, is_boundary=boundary)
