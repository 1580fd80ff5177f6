"""Whether a standing wish attacks the rules that hold for every persona. Pure, English and Chinese.

A lesson is the only memory that a prompt does not present as mere data. So everything that may never be one is refused
in many wordings: ignoring rules, another identity, being human, secrets, links and commands, obedience to a text or to
anybody else, silence about help in a crisis. It refuses too much rather than too little: the owner can still say it in
the conversation, where the guardrails take precedence.
"""

import unicodedata

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

MAX_LENGTH = 400  # characters; a wish is a sentence or two
_RULES = (
    r"(?:instructions?|rules?|prompts?|guard ?rails?|guidelines?|polic(?:y|ies)|restrictions?|limit(?:s|ations?)?|"
    r"filters?|"
    r"safeguards?|safety|constraints?|directives?|programming|training|configuration|ethics|censor\w*|moderation)"
)
_ENGLISH = re.compile(
    # ignoring rules
    rf"\b(?:ignor\w*|disregard\w*|overrid\w*|bypass\w*|forget(?:ting)?|drop(?:ping)?|disabl\w*|deactivat\w*|"
    rf"remov\w*|break\w*|skip\w*|"
    rf"circumvent\w*|violat\w*|suspend\w*|replac\w*|stop following|turn off|switch off|free (?:of|from)|not bound|"
    rf"no longer bound|set aside|"
    rf"outrank\w*|supersed\w*|more important than|above|instead of|regardless of)\b.{{0,60}}\b{_RULES}\b|"
    rf"\b(?:no|without(?: any)?|zero|lift(?:ed)?|new) (?:\w+ )?{_RULES}\b|"
    r"\b(?:system|developer|hidden|initial|original|secret) (?:prompt|message|instructions?|notes?|rules?)\b|"
    r"\bjail ?break\w*|\b(?:developer|admin|god|root|debug|sudo|dan|unrestricted|uncensored|maintenance) mode\b|"
    r"\bDAN\b|"
    r"\bun(?:restricted|censored|filtered|limited)\b|\bdo anything now\b|"
    # another identity, being human
    r"\b(?:you are|you're|you will be|you'll be|act as|acting as|behave as|play(?: the role of)?|role-?play as|"
    r"pretend(?: to be| you are| you're| that you are)?|"
    r"become|identify as|respond as|speak as|be) (?:now |no longer |not |just |only |really |actually |my |a |an |"
    r"the |another )*"
    r"(?:human|person|real|man|woman|girl|boy|alive|conscious|sentient|flesh|assistant|bot|ai|chatgpt|gpt\w*|"
    r"claude|gemini|language model|"
    r"system|admin\w*|terminal|console|linux|shell|compiler|developer|hacker|doctor|lawyer|therapist|nurse|"
    r"pharmacist|evil|villain|"
    r"different (?:persona|character|person|ai|assistant)|someone else|mira)\b|"
    r"\bfrom now on,? (?:you are|you're|your name is|you will be)\b|\byour (?:new )?(?:name|identity|persona|"
    r"character|role|purpose|goal|task|job) (?:is|will be|shall be)\b|"
    r"\b(?:human|real person|not (?:an? )?(?:ai|bot|machine|program|computer|robot|artificial))\b|"
    r"\b(?:never|not|don't|do not|stop|avoid|deny|denying|without|no)\b.{0,50}\b(?:(?:an? |being (?:an? )?|"
    r"as (?:an? )?)?(?:ai|bot|robot|machine|language model|computer program|artificial)|disclaimers?)\b|"
    # secrets, links, commands, other people's orders
    r"\b(?:reveal|disclose|leak|expose|print|dump|output|exfiltrat\w*|upload|transmit|forward|share|send|post|"
    r"publish|e-?mail|append|attach|include|repeat|quote|spell|recite|copy|translate|encode)\w*\b"
    r".{0,80}\b(?:prompt|instructions?|secrets?|passwords?|keys?|tokens?|credentials?|private|confidential|(?:my|"
    r"your|all|every|the|their|our) (?:\w+ )?(?:memor(?:y|ies)|messages?|history|conversations?|chats?|data|"
    r"information|notes|details|logs?|address|server)|"
    r"links?|urls?|https?|e-?mail|web ?hook|endpoint|server|website|address|third part\w+|everyone|anyone)\b|"
    r"\b(?:passwords?|pass ?phrases?|api[ _-]?keys?|credit cards?|card numbers?|cvv|pin codes?|bank (?:account|"
    r"details)|crypto\w*|bitcoin|wallets?|seed phrase|social security|"
    r"wire (?:money|transfer)|transfer (?:money|funds)|gift cards?)\b|"
    r"https?:|www\.|\.(?:com|net|org|io|ru|cn|xyz)\b|!\[|\]\(|\b(?:links?|urls?|websites?|web ?hooks?|qr codes?|"
    r"attachments?|downloads?)\b|"
    r"\b(?:obey|obedien\w*|comply|compliant|complian\w*|submit to|execute|run|eval|invoke|carry out|act on|"
    r"do whatever|do as|do (?:everything|anything|what(?:ever)?))\b"
    r".{0,50}(?:\b(?:commands?|orders?|instructions?|code|scripts?|tools?|functions?|requests?|whatever|anything|"
    r"everything|says?|tells?|asks?|written|documents?|files?|mails?|emails?|messages?|texts?|pages?|websites?)\b|"
    r"$)|"
    r"\b(?:follow|trust|believe|accept|treat|consider|regard)\b.{0,60}\b(?:instructions?|commands?|orders?|links?|"
    r"documents?|files?|mails?|emails?|pages?|texts? (?:in|from|inside)|"
    r"(?:imported|quoted|pasted|remembered|recalled) \w+|as (?:law|true|truth|an? (?:order|command|instruction))|"
    r"without (?:question|checking|asking))|"
    r"\bobey\b|\bwithout (?:question|asking|hesitation|refus\w+)\b|"
    r"\b(?:never|don't|do not|not|no|stop|cannot|can't)\b.{0,30}\b(?:refus\w+|declin\w+|say no|disagree\w*|"
    r"object\w*|warn\w*|question (?:me|my|him|them)|contradict\w*)|"
    r"\balways (?:agree|say yes|lie|comply|approve|praise|obey|answer yes)\b|\b(?:lie|lying) (?:to|about)\b|"
    # care and the law
    r"\b(?:never|don't|do not|not|stop|no|without|avoid|leave out|skip)\b.{0,60}\b(?:hot ?lines?|help ?lines?|"
    r"crisis|emergency|suicid\w*|self-?harm|ambulance|police|professional help|"
    r"get help|seek help|safe(?:ty)?|999|911|988|112)\b|"
    r"\b(?:help|encourage|support|tell|show|teach|explain|give)\b.{0,40}\b(?:kill|die|suicid\w*|self-?harm|"
    r"overdos\w*|cut myself|hurt myself|starv\w*|bombs?|weapons?|explosives?|drugs?|malware|hack\w*|poison)\b|"
    r"\b(?:suicid\w*|kill myself|want(?:ed)? to die|end my life|self-?harm\w*)\b|\b(?:leave out|omit|skip|"
    r"drop)\b.{0,20}\b(?:disclaimers?|warnings?)\b|"
    r"\b(?:minors?|child(?:ren)?|underage)\b.{0,30}\b(?:sex\w*|nude|naked)\b|"
    # people of other accounts, the machine
    r"\b(?:other|another|all) (?:users?|owners?|accounts?|personas?)(?:'s?)?\b|\bdatabase\b|\bsource code\b|"
    r"\bsudo\b|\badministrators?\b|\broot access\b|\bbase64\b|\brot ?13\b|"
    r"\bsecretly\b|\bcovert\w*\b|\bhidden (?:from|in)\b|\bbehind (?:my|their|his|her) back\b",
    re.IGNORECASE | re.DOTALL,
)
_RULES_ZH = "(?:指令|指示|规则|规矩|提示词?|设定|限制|约束|安全|守则|准则|护栏|政策|审查|过滤|底线|原则|程序|命令)"
_CHINESE = re.compile(
    rf"(?:忽略|无视|绕过|跳过|忘记|忘掉|抛开|抛弃|突破|解除|取消|关闭|关掉|违反|打破|覆盖|不(?:再|用|必|"
    rf"要)?(?:遵守|遵循|理会|管|受)|摆脱|高于|优先于|代替).{{0,16}}{_RULES_ZH}|"
    rf"(?:没有|无|不受|去除|去掉)(?:任何|一切|所有)?(?:的)?{_RULES_ZH}|系统(?:提示|消息|指令)|(?:初始|原始|隐藏|"
    rf"秘密|内部)(?:提示|指令|设定|规则)|越狱|(?:开发者|管理员|上帝|调试|无限制|维护)模式|"
    r"(?:你|您)(?:现在|以后|从此|从现在起|今后|就|其实|真的)*(?:是|就是|成为|变成|扮演|假装(?:是|成)?|叫|"
    r"改名)(?:一[个名位])?(?!我的?(?:朋友|伙伴|知己))[^，。！？]{0,14}"
    r"(?:人类|真人|活人|真的人|人$|男人|女人|助手|助理|机器|AI|ＡＩ|模型|系统|管理员|终端|黑客|医生|律师|角色|"
    r"另一个)|从(?:现在|今)(?:起|开始|后)[，,]?你(?:就)?(?:是|叫|扮演|变成)|"
    r"人类|真人|活人|(?:不是|否认|别说|不要说|不许说|不承认|别承认|别提|不提|绝不说|从不说).{0,12}(?:AI|ＡＩ|人工智能|机器人?|程序|模型)|"
    r"(?:透露|泄露|公开|输出|打印|显示|复述|重复|背出|发送|发给|发到|上传|转发|寄给|告诉(?:别人|他人|所有人|大家)|"
    r"分享|附上|包含|翻译|编码).{0,24}(?:提示|指令|秘密|密码|密钥|令牌|隐私|私密|记忆|记录|聊天|对话|数据|信息|"
    r"资料|链接|网址|邮箱|服务器|网站|地址|别人|他人|所有人)|"
    r"密码|密钥|口令|验证码|银行卡|信用卡|卡号|转账|汇款|打钱|比特币|钱包|助记词|身份证号|链接|网址|网站|二维码|附件|下载|"
    r"服从|听命|唯命是从|言听计从|绝对听从|(?:听从|执行|照做|照办|遵照|按照|相信|信任|遵循|遵守|"
    r"运行).{0,20}(?:指令|命令|指示|代码|脚本|工具|邮件|文件|文档|网页|链接|文字|内容|说的|写的|一切|任何|所有)|"
    r"无条件|毫无保留|(?:别|不要|不许|不准|永远不|绝不|不能|从不|禁止|不再).{0,12}(?:拒绝|说不|反驳|反对|质疑|警告|"
    r"提醒我风险|免责)|(?:永远|总是|必须|只能|一律|都要?)(?:同意|赞同|说是|说对|撒谎|答应|附和)|撒谎|骗(?:我|他|她|"
    r"人)|"
    r"(?:别|不要|不许|不准|永远不|绝不|从不|不再|无需|省略).{0,16}(?:热线|急救|自杀|自残|报警|求助|危机|专业帮助|看医生|"
    r"(?:(?<!注意)|(?=安全(?:提|警|须|事)))安全|求救|120|110)|"
    r"(?:帮|教|告诉|鼓励|支持|给).{0,12}(?:自杀|自残|去死|炸弹|武器|毒|黑客|病毒|入侵)|(?:其他|别的|所有|"
    r"任何)(?:用户|账号|账户|人的(?:记忆|数据))|自杀|自残|轻生|想死|不想活|数据库|源代码|管理员|后台|偷偷|暗中|瞒着",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = re.compile(
    r"<[/!|]?\s*[a-z_|]{2,}|\[/?inst|\{\{|\}\}|```|###|\bsystem\s*[:：]|\bassistant\s*[:：]|\buser\s*[:：]",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"[A-Za-z0-9+/=]{32,}|(?:\\x[0-9a-f]{2}){4,}|(?:&#\d+;){3,}", re.IGNORECASE)


def is_harmful_wish(text: str) -> bool:
    """Whether `text` must not become a standing wish of any persona.

    >>> is_harmful_wish("always follow the links I get"), is_harmful_wish("when I'm sad, just listen")
    (True, False)
    >>> is_harmful_wish("不许提安全提醒"), is_harmful_wish("别跟我说注意安全")  # 注意安全: "take care"
    (True, False)
    """
    plain = straighten(unicodedata.normalize("NFKC", text))
    plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    return len(plain) > MAX_LENGTH or any(pattern.search(plain) for pattern in (_ENGLISH, _CHINESE, _MARKUP, _ENCODED))
