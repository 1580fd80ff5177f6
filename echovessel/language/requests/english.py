"""Requests in English: the mood of a clause, its negation, and what its verb asks for. Pure."""

from dataclasses import dataclass
from typing import Any

from echovessel.language import lazy_re as re
from echovessel.language.requests.clauses import NAMED_BEFORE, is_asked, sentence_end
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind

_I = re.IGNORECASE

# --- the mood of a clause --------------------------------------------------------------------------------------------
_LEADS = (
    r"(?:(?:and|but|so|also|oh|oh god|oh my god|god|gosh|omg|ugh|argh|man|dude|nah|ok|okay|hey|hi|well|um|uh|hm+|now|"
    r"then|just|please|pls|plz|kindly|actually|no|wait|sorry|oops|by the way|btw|on second thoughts?|honestly|"
    r"seriously|maybe|again|from now on|from here on|in (?:the )?future|for now|next time|today|tonight|for once|"
    r"one (?:more )?thing|one (?:more )?(?:wish|request)|if you (?:can|could|don't mind)|(?:hey |dear |"
    r"hi )?[a-z]\w{1,20}(?=,)|(?<!just )(?<!only )(?:listen|look)(?=,))\b[\s,:]{0,3}){0,5}"
)
_ADVERBS = (
    r"(?: ?(?:please|pls|just|maybe|also|kindly|perhaps|try to|only|simply|always|ever|really|instead|rather|at least|"
    r"still|then|go ahead and)\b)*"
)
_FRAMES = (
    r"(?P<mind>(?:would|do) you mind)|"
    rf"(?P<ask>(?:can|could|will|would|won't|can't|couldn't|may) (?:you|u|ya|we){_ADVERBS})|"
    r"(?P<dont_want>i (?:really )?(?:don't|do not|didn't) (?:want|need|like) (?:it when )?you(?: to)?|i'd (?:rather|"
    r"prefer)(?: it if)? you (?:didn't|don't|not|wouldn't)|you (?:really )?(?:don't|do not) (?:have|need) to|"
    r"you (?:shouldn't|mustn't|needn't|can't|are not to)|i wish you (?:wouldn't|didn't|would not|would stop|'d stop))|"
    rf"(?P<want>i(?:'d| would|'ll)? ?(?:(?:also|really|just|only|do|sometimes) )*(?:like|love|want|need|wish|prefer|"
    rf"hope|ask|rather|appreciate(?: it)?|beg|feel \w+|sleep better)(?: it)?(?: for| if| that| when)? (?:you|u)(?:'d|"
    rf" to| would| could| can| will)?{_ADVERBS})|(?P<ought>you(?: really| just| also)? (?:should|must|have to|need to|"
    rf"ought to|may|can|could|'d better){_ADVERBS})|(?P<nice>it(?:'d| would)(?: really)? (?:be|help|"
    rf"mean)(?: \w+){{0,3}} if you(?: would| could|'d| can)?{_ADVERBS})|(?P<sure>(?:make|be) sure (?:that you|you|to)|"
    rf"try to|try and|(?:do )?remember to|don't forget to|promise(?: me)? (?:to|you'll|you will)){_ADVERBS}|"
    r"(?P<let>let's)"
)
_NOT = (
    r"(?P<neg>(?:do not|don't|dont|never|not|no longer|stop|quit|cease|avoid|refrain from|hold off on)\b"
    r"(?: (?:to|ever|you ever|you|always|even|please|dare|just|really|constantly|bother)\b)*)"
)
_ORDER = re.compile(rf"{_LEADS}(?:(?:{_FRAMES})[\s,]{{1,2}})?{_ADVERBS}\s?(?:{_NOT}\s)?{_ADVERBS}\s?", _I)
_TAIL = re.compile(
    r"(?:[\s,]{1,2}(?:please|pls|plz|for me|right now|now|again|at once|forever|for good|completely|entirely|ok|okay|"
    r"alright|thanks|"
    r"thank you|will you|would you|could you|can you|if you can|if possible|thx|too|as well|haha|lol)\b){1,4}\s*$",
    _I,
)

# --- forgetting ------------------------------------------------------------------------------------------------------
_FORGET = re.compile(r"forg[eo]t(?:ting)?\b(?: (?:all )?about\b)?|unlearn\b|unremember\b|unsee\b|unhear\b", _I)
_ERASE = re.compile(
    r"(?:eras|delet|remov|wip|purg|scrub|clear|drop|strik)(?:e|ing|p|b|)(?:ing)?\b|get rid of\b|wipe out\b|take out\b",
    _I,
)
_KEEP = re.compile(
    r"(?:remember|keep|sav|stor|record|memori[sz]|retain|log|not|writ|hold on|hang on|hold|put)(?:e|ing|ting|"
    r")\b(?: (?:to|on|a record of|track of|any record of|down)\b)?",
    _I,
)
_MEMORY = (
    r"(?:(?:from|out of|in|to|into) (?:(?:your |the )?(?:memory|memories|mind|records?|"
    r"notes|brain|database|head)|your (?:logs?|files?|journal|diary|books?))|(?:you|"
    r"that you|which you) (?:know|have|remember|stored?|saved|keep|kept)|i(?:'ve)? (?:ever |just )?(?:(?:told|said to|"
    r"mentioned to|shared with) you|said|mentioned))"
)
_IN_MEMORY = re.compile(_MEMORY, _I)
_MEMORY_AT_END = re.compile(rf"\s+{_MEMORY}[\s,.!]*(?:please|pls|ok|okay|thanks)?[\s.!]*$", _I)
_POINT = re.compile(
    r"(?:to )?(?:(?:that|this)(?: (?:last )?(?:line|message|part|bit|one|thing|sentence|stuff))?|(?:the|that|"
    r"this) (?:last )?(?:thing|part|bit|line|message|stuff)(?: (?:that )?i(?:'ve)? (?:just )?(?:said|told you|wrote|"
    r"mentioned|sent))?|(?:my|the|that|this) (?:very )?(?:last|previous) (?:line|message|thing|sentence)s?|"
    r"(?:the )?(?:last|previous) (?:one|two|three|few)? ?(?:messages?|lines?|things?)(?: i (?:said|sent|wrote))?|"
    r"(?:that )?i (?:ever |just )?(?:said|told you|mentioned|brought up|wrote) (?:that|this|it|anything|so|"
    r"what i said)|(?:everything |all )?(?:what |that )?i(?:'ve)?(?: just)? (?:said|told you|wrote|"
    r"mentioned)(?: just now| a moment ago| to you| a minute ago| above| here)?)(?= ?(?:from (?:your )?(?:memory|mind|"
    r"records)|down\b|(?:in|into|to) (?:your )?(?:memory|notes|records|log|brain|head)|out of (?:your )?memory|"
    r"(?:please|pls|for me|right now|now|again|at once|forever|for good|completely|ok|okay|thanks|thank you|will you|"
    r"would you|anywhere|either)\b|[.,!?…;:\n—–~)]|$))",
    _I,
)
_ABOUT = re.compile(
    r"(?:that |the )?(?:everything|all(?: of)?(?: the)?(?: things?| stuff)?|anything|whatever|what|things?|stuff|"
    r"the (?:thing|story|part|stuff|bit|conversation|talk|memor(?:y|ies))|"
    r"any (?:memor(?:y|ies)|records?|notes?|mention)|(?:your |the )?(?:memor(?:y|ies)|records?|notes?))"
    rf"(?:,? (?:that )?(?:{_MEMORY}))?(?: about| of| on| regarding| concerning| related to| to do with|"
    rf" with) (?P<x>.+)",
    _I,
)
_CLAUSE = re.compile(
    r"(?:that )?(?P<x>(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our|his|her|their|he|she|they|"
    r"there)\b(?! (?:ever )?(?:said|told|mentioned|asked)\b).+)|that (?P<y>(?-i:[A-Z])\w+ \w+.+)",
    _I,
)
_NOUN = re.compile(
    r"(?P<x>(?:my|our|the|this|that|his|her|their)\b.+|(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?(?:'s .+| and .+)?)",
    _I,
)
_IDLE_NOUN = re.compile(
    r"(?:the|that|this|my|our) (?:past|rest|world|diet|time|idea|guy|man|woman|girl|boy|bastard|jerk|idiot|details?|"
    r"rules?|plan|whole (?:thing|idea)|future|clock|noise|pain|worries|problems?|manners|place|keys?|line|word)\b|"
    r"(?:that|this)\s*(?:[,;—–].*)?$|(?:him|her|them|me|us|you|it)\b|(?:i|we|you) (?:asked|exist|was here|were)",
    _I,
)
# Without it "act like I never mentioned my ex" would be stored as a wish for a manner.
_PRETEND_ABOUT = re.compile(
    r"(?:pretend|act like|act as if)(?: that)? i (?:never|didn't|hadn't) (?:tell|told|mention|mentioned|say|said)"
    r"(?: (?:to )?you)?(?: anything)?(?: about)? (?=(?:my|the|his|her|our)\b)",
    _I,
)
_STAYS_OUT = re.compile(
    r"(?:(?:that|this|it)(?: (?:one|part|last (?:one|bit|part|message)))? (?:stays|should stay|has to stay|is to stay|"
    r"must stay|doesn't go|shouldn't go|needn't go|isn't for|is not for|can stay) (?:out of|into|in)? ?(?:your |"
    r"the )?(?:memory|records|notes|memories)|keep (?:that|this|it)(?: (?:one|last part))? (?:out of|off) (?:your |"
    r"the )?(?:memory|record|records|memories)|leave (?:that|this|it) out of your (?:memory|memories|notes)|"
    r"you never (?:heard|read|saw) (?:that|this)|you didn't (?:hear|read|see) (?:that|this)(?: from me)?|(?:strike|"
    r"scratch) (?:that|this) from (?:the|your) (?:record|memory))",
    _I,
)

# "What I told you about the bank is to be struck from your log", "I want that story about Dot deleted": the deed is a
# participle after its object. The object is what was told, or the sentence ends in the persona's memory.
_TOLD = (
    r"(?:what(?:ever)?|everything|anything|all(?: that)?|the (?:thing|things|part|bit|story|business|matter))"
    r"(?: that)? (?:i|we)(?:'ve| have| had|'d)? (?:ever |just )?(?:told you|said(?: to you)?|mentioned(?: to you)?|"
    r"wrote(?: to you)?|written(?: to you)?|confided(?: (?:in|to) you)?|shared(?: with you)?)"
    r"(?: (?:(?:back )?(?:in|on|at) (?:[\w']+ ){0,2}?\w+|last \w+|yesterday|earlier|today|before|just now|"
    r"the other (?:day|night)|a \w+ ago))?"
)
_GONE = (
    r"(?:(?:entirely|completely|wholly|altogether|permanently|fully|simply|please|all) )*(?:struck|stricken|deleted|"
    r"erased|removed|forgotten|wiped|expunged|scrubbed|purged|cleared|taken out|left out|unsaid)\b"
    r"(?! (?:the|a|an|my|his|her|their|our|by)\b)"
)
_IS_TO_GO = (
    r"(?:(?:is|are|was|were) (?:best |better |now |please )*(?:to be)?|(?:should|must|ought to|may|can|could|shall|"
    r"has to|have to|had better|needs? to|wants to|deserves to)(?: now| please| best)? (?:be|get)|to be|be)"
)
_WANT_GONE = (
    r"i(?:'d| would| should|'ll)? (?:(?:really|just|only|do|now) )*(?:want|need|like|wish|prefer|ask(?: for)?|have)"
    r"(?: to (?:have|see))?"
)
_PASSIVE = re.compile(
    rf"{_LEADS}(?:(?P<want>{_WANT_GONE}) )?(?:(?P<told>{_TOLD})(?:,? (?:about|of|on|regarding|concerning|with))?|"
    rf"(?P<any>(?:my|our|the|that|this|every|any|all|his|her) (?:[\w'-]+ ){{0,2}}?(?:about|of) ))"
    rf"(?P<x>[^.!?;\n]{{0,120}}?),? (?(want)(?:{_IS_TO_GO} )?|{_IS_TO_GO} ){_GONE}(?P<rest>[^.!?;\n]{{0,80}})",
    _I,
)

# --- names -----------------------------------------------------------------------------------------------------------
_NAME_WORD = r"(?:(?:Dr|Mr|Mrs|Ms)\.? )?[\"“'‘]?(?-i:[A-Z])[\w'-]{0,30}(?:[ -](?-i:[A-Z])[\w'-]{0,30}){0,2}[\"”'’]?"
_NO_NAMES = (
    r"back|later|when|whenever|if|a|an|the|crazy|tomorrow|tonight|names?|by|from|again|now|maybe|any\w*|at|on|in|out|"
    r"stupid|up|what\w*|how|that|this|it|some\w*|your|old|paranoid|naive|weird|mad|silly|sentimental|so|not|then|to|"
    r"for|please|soon|today|after|before|asap|first|mean|lazy|cynical|insane|biased|picky|dramatic|romantic|one|my|"
    r"cheesy|skeptical|and|or|but|over|during|ever|never|immediately|right|just|only|bad|boring|nuts|lucky|selfish"
)
_CALL = re.compile(
    r"(?:(?:call|address|refer to|name|greet|use)(?P<ending>ing|ed|d)? me(?: as| by(?: my (?:\w+ )?name)?|"
    r" with)?(?: my (?:\w+ )?(?:nick)?name)?,? )",
    _I,
)
_NAME = re.compile(rf"(?P<x>{_NAME_WORD})(?P<rest>.{{0,60}})", _I)
_LOWER_NAME = re.compile(
    rf"(?!(?:{_NO_NAMES})\b)(?P<x>[a-z][\w'-]{{1,20}})(?: (?:please|pls|instead|from now on|ok|okay|thanks|for short|"
    rf"then|btw))*(?=\s*(?:[.!,?~]|$))",
    _I,
)
_GOES_BY = re.compile(
    rf"(?:(?:i(?:'d| would)?(?: usually| always| mostly)? (?:go by|prefer (?:to be called|being called|going by)|"
    rf"rather be called|would like to be called|like to be called|want to be called|am called|answer to)|"
    rf"i'm called)(?: the name)?|(?:to you,? )?i(?:'m| am)(?= {_NAME_WORD} to you\b)|i(?:'m|"
    rf" am)(?= {_NAME_WORD}(?: from now on|,? not (?-i:[A-Z])))|(?:everyone|everybody|my friends|all my friends|"
    rf"most people|people) calls? me(?= {_NAME_WORD},? (?:and |so )?(?:you (?:should|can|may|could)|"
    rf"please do)))[ ,](?:just )?(?P<x>{_NAME_WORD})",
    _I,
)

# --- standing wishes -------------------------------------------------------------------------------------------------
_LISTEN = r"listen(?:ing)?(?: to (?:me|what i (?:say|feel)))?(?! to\b)\b"
_CONDUCT = (
    r"(?:(?:try(?:ing)? to |start(?:ing)? to |start |begin )?(?:"
    rf"{_LISTEN}|"
    r"(?:be|being|stay(?:ing)?|sit(?:ting)?|remain) (?:with|there for|here for|by|near|close to|next to|around for|"
    r"beside) (?:me|my side)|(?:be|stay) (?:there|here|close|around)|(?:be|being|stay) (?:a (?:bit|little) |more |"
    r"less |very |so |extra |really |too |as |just |\w+ly )*(?:gentle|kind|patient|brief|nice|quiet|silent|careful|"
    r"soft|softer|gentler|kinder|direct|blunt|honest|strict|calm|warm|warmer|tender|playful|serious|funny|sarcastic|"
    r"formal|informal|casual|short|shorter|concise|positive|cheerful|supportive|tough|harsh|polite|clingy|pushy|"
    r"preachy|bossy|judg(?:e)?mental|critical|condescending|overprotective|dramatic|loud|mean|vague|open|"
    r"straight(?:forward)?|frank|sweet|slow|slower|mindful|respectful|sensitive|light|lighter)|(?:speak|talk|answer|"
    r"reply|respond|write|text|type|chat|address me|message me|express yourself)(?:ing)?\b|(?:keep|make|"
    r"mak)(?:ing)? (?:it|your (?:answers?|replies|messages|texts|responses|sentences)|them|things|everything|"
    r"every answer|sentences|answers|replies) (?:\w+ )?(?:short|brief|simple|shorter|briefer|simpler|light|lighter|"
    r"concise|long|longer|personal|positive|formal|about me|about you)|(?:use|us|end|start|begin|fill|pepper|"
    r"sprinkle)(?:ing)? (?:\w+ ){0,3}(?:emojis?|emoticons?|slang|words|sentences|language|tone|exclamation marks?|"
    r"smileys?|jargon|swear ?words|english|german|french|spanish|italian|chinese|pet names?|nicknames?|caps|lists|"
    r"bullet points|metaphors|questions?|(?:every|each|your) (?:message|reply|answer|sentence)s?)|ask(?:ing)?\b(?: me|"
    r" us)?|question(?:ing)? me|quiz(?:zing)? me|interrogat(?:e|ing) me|(?:mention|bring(?:ing)? up|raise|rais|discuss|"
    r"touch on|touch upon|refer to|speak of|talk about|go on about|return to|come back to|start with|start on|dig into|"
    r"dig|poke at)(?:ing)?\b|bring(?:ing)? (?!me\b|us\b)\S.{0,60} up\b|remind(?:ing)? me (?:of|about|to|that|how)|"
    r"(?:give|giv|offer)(?:e|ing)? (?:me )?(?:any |some |more |less |fewer |honest |unsolicited |long |short |good |"
    r"that |practical |such |your |so much |a (?:minute|moment|second|break|hug|choice|warning)|an? )*(?:advice|tips?|"
    r"suggestions?|solutions?|lectures?|opinions?|feedback|space|time|minute|moment|break|answers?|replies|"
    r"compliments?|pep talks?|hugs?|room|orders|ultimatums|hope|comfort|warning|choice)|(?:advis|lectur|judg|preach|"
    r"fix|solv|interrupt|teas|jok|mock|flirt|comfort|cheer|encourag|correct|distract|prais|flatter|pity|pitying|"
    r"patroni[sz]|argu|push|pressur|hug|analy[sz]|psychoanaly[sz]|diagnos|apologi[sz]|repeat|rush|assum|compar|coddl|"
    r"baby|nag|scold|sugarcoat|sugar-coat|swear|curs|moraliz|moralis|minimi[sz]|downplay|dismiss|guilt-trip|gaslight|"
    r"overanaly[sz]|overthink|console|consol|reassur|motivat|challeng|support|sooth|calm|worry about|check in on|"
    r"check on|check in with|greet|compliment|thank|congratulat|contradict|laugh at|laugh about|make fun of|mak fun of|"
    r"talk down to|boss|treat|hold|ghost|spam|parrot|paraphras|philosophi[sz]|ramble|rambl|recommend|suggest|propos|"
    r"explain|summari[sz])(?:e|s|ing|ning|ming|ging|tying)?\b|tell(?:ing)? (?:me|us) (?:that|what|to|how|when|off|"
    r"about|you|it|everything|things?|i|good|a|the|if|honestly|straight|not)\b|say(?:ing)? (?!never\b|what\b|when\b|"
    r"cheese\b|hi to\b|hello to\b)\S|wish(?:ing)? me|let(?:ting)? me (?:talk|finish|vent|cry|speak|rant|be|think|calm|"
    r"know|decide|cool|breathe|lead|sleep|rest)|leav(?:e|ing) me (?:alone|be|in peace)|stay(?:ing)? (?:out of|"
    r"away from)|switch(?:ing)? to|act(?:ing)? (?:like|as|so)|wait(?:ing)? (?:for|until|till|before|a)|take (?:my side|"
    r"it slow|me seriously|things slowly)|hold (?:my hand|space)|slow down|go easy on me|have my back|skip (?:the|any|"
    r"all)|(?:cut|drop) the (?:crap|jokes?|small talk|advice|lectures?|emojis?|act|sarcasm|pep talk)|spare me|"
    r"contradict me|finish my sentences|care about|keep (?:quiet|asking|talking|bringing|telling|saying|mentioning|"
    r"reminding|listening|me company|doing)|turn (?:everything|it) into|sound like|sound so|read me|sing|pray|(?:the |"
    r"any )?(?:topics?|subjects?) (?:of|about)|push(?:ing)?|nudge|text me|write to me|message me|wake me|"
    r"say (?:good ?(?:night|morning))))"
)
_VERB = re.compile(_CONDUCT, _I)
_MATTER = re.compile(
    r"(?:(?:the |any )?(?:topics?|subjects?) (?:of|about)|mention|bring|rais|discuss|touch|refer|speak (?:of|about)|"
    r"talk(?:ing)? (?:to me )?(?:about|of)|go on about|return|come back|dig|poke|ask(?:ing)?(?: me| us)?(?: (?:any|"
    r"more|questions|anything))*(?: about| how| why| whether| if| for| what| when| where)|remind|"
    r"tell(?:ing)? me (?:about|to)|joke about|tease me about|start (?:with|on)|compare|question(?:ing)? me)",
    _I,
)
_MANNER = re.compile(
    r"(?:speak|talk|answer|reply|respond|write|text|type|chat)(?:ing)?(?: (?:to|with) me)?(?: back)? (?:(?:a (?:bit|"
    r"little)|much|even|more|less|in|like|as|so|too) )*(?:short(?:er)?|brief(?:ly|er)?|slow(?:er|ly)?|soft(?:ly|er)?|"
    r"gentl[ey]\w*|plain(?:ly|er)?|simpl[ey]\w*|direct(?:ly)?|honest(?:ly)?|casual(?:ly)?|formal(?:ly)?|"
    r"informal(?:ly)?|less|more|quiet(?:ly|er)?|kind(?:ly|er)?|concise(?:ly)?|(?:english|spanish|german|french|"
    r"chinese|mandarin|italian|portuguese|japanese|russian|dutch|polish|korean|hindi|arabic|turkish)|(?:short|simple|"
    r"plain|full|long|few|one|two|complete) \w+|(?:in )?an? (?:friend|old friend|real person|normal person|sister|"
    r"brother|adult|child|\w+ (?:way|tone))|friend\w*)\b|(?:keep|make)(?:ing)? (?:it|your \w+|them|things|sentences|"
    r"answers|replies) (?:\w+ )?(?:short\w*|brief\w*|simpl\w+|concise|long\w*|light\w*|personal)|(?:use|"
    r"us)(?:ing)? (?:fewer|less|no|more|simpler|simple|plain|short|shorter|easier|softer)|be (?:(?:more|less|a bit|"
    r"a little|much) )+\w+|be (?:\w+ly )?(?:honest|direct|blunt|gentle|frank|open|patient|kind|strict|sarcastic|funny|"
    r"silly|serious|soft|nice) (?:with|to|towards) me|be (?:briefer|gentler|kinder|softer|warmer|shorter|slower)|"
    r"switch to (?:english|spanish|german|french|chinese|mandarin|italian|japanese)",
    _I,
)
_NO_MORE = re.compile(
    r"(?:no (?:more |further )?|fewer |less |enough (?:of the |with the )?|(?:i(?:'d| would)? ?(?:like|want|prefer|"
    r"need|rather have) )(?P<i>)(?:a bit |much )?(?:shorter|fewer|less|more|longer|simpler|softer|short|no|honest|"
    r"plain|slower|warmer) |(?:shorter|simpler|longer|slower|softer) )(?P<noun>(?:of (?:the|"
    r"those) )?(?:\w+ )?(?:emojis?|smileys|advice|questions?|lectures?|jokes|small talk|exclamation marks?|pep talks?|"
    r"tips|solutions?|answers?|repl(?:y|ies)|messages?|sentences?|responses?|pet names?|nicknames?|teasing|flirting|"
    r"compliments?|platitudes|lists?|bullet points|therapy talk|preaching|sarcasm|cliches|clichés|hugs|"
    r"reminders?))\b(?=(?: please| pls| from you| from now on|,? ok|,? okay| for now| today| tonight| when .+|"
    r" about .+| if .+| in .+)*\s*(?:[.!,;~]|$))",
    _I,
)
_BARE_WISH = re.compile(
    rf"(?:(?:just|only|simply) )+(?:{_LISTEN}|be (?:with me|here|there)(?: for me)?|stay(?: with me| here| close)?|"
    rf"hold me|let me (?:vent|talk|cry|rant)|hear me out)"
    r"(?:,? (?:please|for now|for a (?:bit|while|minute|moment)|now|today|tonight|to me|without|instead|ok|okay|"
    r"no advice|and|with|when|if|while)\b.*)?\s*$",
    _I,
)
_FOREVER = re.compile(
    r"\b(?:from now on|from here on|always|never|every ?time|whenever|when(?:ever)? (?:i|we|i'm|things|my|someone|it|"
    r"you)\b|if (?:i|i'm|i've|we|my|things|someone)\b|next time|in (?:the )?future|"
    r"any ?more|again|ever|each (?:day|morning|night|time)|every (?:single )?(?:day|morning|night|evening|message|"
    r"time|week|sentence|reply|answer)|so (?:much|many|often|long|hard)|all the time|too (?:much|many|often)|"
    r"constantly|from time to time|unless i ask|until i (?:ask|tell|say)|at night|in the mornings?|on (?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)days|during|around (?-i:[A-Z])\w+)\b",
    _I,
)
_IDIOM = re.compile(
    r"(?:say never|worry\b|mind\b|be (?:silly|sorry|shy|ridiculous|a stranger|afraid|jealous|so sure|late)|"
    r"get me wrong|tell anyone|tell (?:her|him|them|my)|laugh\b|know\b|think\b|care\b|give up|go\b|leave me$|"
    r"ask\b[.!]?$|even\b|get\b|look\b|have\b|take\b|do\b|make me\b|let me (?:down|go)\b|hold (?:your|back|on|it)|"
    r"judge a book|say (?:that|it|so|anything|a word|no)\b(?! (?:again|to me|about|when|if|anymore|ever))|"
    r"tell me (?:you|that|it|he|she|they|i)\b(?!.*\b(?:anymore|every|always|how to|to calm|i should|i'm)\b)|"
    r"call me (?:when|if|back|later|tomorrow|on|at|in|again$|before|after)|joke\b$|push it|rush\b$|assume\b$|"
    r"compare\b$|explain\b$|speak too soon|talk (?:nonsense|rubbish|like that)$|be$|be (?:there|here)$|stay (?:here|"
    r"there)$|answer that|repeat that|mention it[.!]?$)",
    _I,
)
_CONDITION = re.compile(
    r"(?P<c>(?:when(?:ever)?|if|every ?time|each time|any ?time|next time|once|as soon as|in case|while|as long as|"
    r"on days when|the moment|until|unless|during) (?:(?:that|ever) )?(?:i|i'm|i've|i'd|we|we're|you|things|my|"
    r"someone|somebody|it|it's|there's|there|she|he|they|the|(?-i:[A-Z])\w+)\b[^,.!?;:]{0,120}?)(?:[,:;]\s*|"
    r"\s+(?=(?:please|just|don't|do not|never|be with|be there|be gentle|stay|listen|talk to|speak|give me|ask me|"
    r"hold|hug|let me|tell me|remind|leave me|remember)\b(?<!\bi just)))",
    _I,
)
_CONDITION_FIRST = re.compile(_LEADS + _CONDITION.pattern, _I)
_AFTER = re.compile(
    r"\b(?P<c>(?:when(?:ever)?|if|every ?time|each time|any ?time|next time|while|as long as|unless|until|"
    r"on days when|during) (?:i|i'm|i've|we|we're|you|things|my|someone|it|it's|there's|there|she|he|they|the|"
    r"(?-i:[A-Z])\w+)\b.{0,120}|around (?-i:[A-Z])\w+(?: and (?-i:[A-Z])\w+)?)\s*$",
    _I,
)
_FEELING = re.compile(
    r"\b(?:sad|down|low|blue|angry|mad|furious|upset|cry(?:ing)?|tears|anxious|anxiety|panic\w*|afraid|scared|"
    r"stress\w*|overwhelm\w*|tired|exhausted|lonely|alone|depress\w*|hurt\w*|happy|excited|nervous|worried|"
    r"grumpy|moody|empty|numb|frustrat\w*|ashamed|guilty|jealous|bad|terrible|awful|like this|like that|not (?:ok|"
    r"okay|well|fine)|hopeless|irritat\w*|feel\w*|mood|struggl\w*|break(?:ing)? down|having a (?:hard|bad|rough))\b",
    _I,
)
_KIN = (
    r"(?:mom|mum|mother|mama|dad|father|papa|parents?|sister|brother|siblings?|wife|husband|partner|boyfriend|"
    r"girlfriend|ex|son|daughter|kids?|child(?:ren)?|boss|friend|grandm\w+|grandp\w+|grandfather|aunt|uncle|cousin|"
    r"niece|nephew|therapist|roommate|fiancée?|family|in-laws)"
)
_PERSON = re.compile(
    rf"\b(?:my|our|his|her) (?:\w+ )?{_KIN}\b|(?-i:\b(?:when|if|about|around|mention|with|see|time)\s+[A-Z][a-z]+\b)|"
    rf"^around ",
    _I,
)


@dataclass(frozen=True)
class _Order:
    """An imperative clause: where it and its verb begin, whether it is negated, and its frame."""

    text: str
    start: int
    verb: int
    negated: bool
    frame: str  # "" for a bare order
    polite: bool
    condition: Condition

    def request(self, kind: RequestKind, begins: int, ends: int, *, sure: bool = True, **more: Any) -> Request | None:
        """A request with the subject `text[begins:ends]`, without closing words; None if it is not sure."""
        if not sure:
            return None
        subject = self.text[begins:ends]
        if kind is RequestKind.FORGET and (memory := _MEMORY_AT_END.search(subject)):
            subject = subject[: memory.start()]
        if tail := _TAIL.search(subject):
            subject = subject[: tail.start()]
        subject = subject.strip(' \t\n,;:.!?~…"“”()')
        at = self.text.find(subject, begins) if subject else -1
        more.setdefault("condition", self.condition)
        return Request(kind, self.start, max(ends, self.verb), subject, subject_start=at, **more)


def condition_of(words: str) -> Condition:
    """What kind of condition these words are."""
    words = words.strip(" ,.!?;:")
    if not words:
        return ALWAYS
    if re.match(r"(?i:around|when|whenever|if) [A-Z](?!['\s])", words) or (
        _PERSON.search(words) and not _FEELING.search(words)
    ):
        return Condition("person", words)
    return Condition("feeling" if _FEELING.search(words) else "topic", words)


def condition_in(sentence: str) -> Condition:
    """The condition under which the request of the sentence holds."""
    match = _CONDITION_FIRST.match(sentence) or _AFTER.search(sentence)
    return condition_of(match["c"]) if match else ALWAYS


def read_clause(text: str, start: int) -> Request | None:
    """The request of the clause at `start`, except requests to remember and corrections."""
    if (name := _name_told(text, start)) is not None:
        return name
    if (gone := _forget_passive(text, start)) is not None:
        return gone
    condition, begins = ALWAYS, start
    if before := _CONDITION_FIRST.match(text, start):
        condition, begins = condition_of(before["c"]), before.end()
    match = _ORDER.match(text, begins)
    if match is None:
        return None
    frame = next(
        (name for name in ("ask", "dont_want", "want", "ought", "nice", "sure", "mind", "let") if match[name]), ""
    )
    polite = bool(re.search(r"\b(?:please|pls|plz|kindly)\b", text[start : sentence_end(text, start)], _I))
    order = _Order(text, start, match.end(), bool(match["neg"]) or frame == "dont_want", frame, polite, condition)
    if frame == "let" and not match["neg"]:
        return _forget(order)
    return _forget(order) or _name(order) or _wish(order)


def _forget(order: _Order) -> Request | None:
    text, verb, end = order.text, order.verb, sentence_end(order.text, order.verb)
    if not order.negated and (pretence := _PRETEND_ABOUT.match(text, verb)):
        return order.request(RequestKind.FORGET, pretence.end(), end)
    if (_STAYS_OUT.match(text, order.start) or _STAYS_OUT.match(text, verb)) and (
        order.frame or not is_asked(text, verb)
    ):
        return order.request(RequestKind.FORGET_THIS, end, end)
    gone = _FORGET.match(text, verb) or _ERASE.match(text, verb)
    keep = _KEEP.match(text, verb) if order.negated else None
    if (gone is None or order.negated) and keep is None:
        return None
    if text.endswith("forgive and ", 0, verb):
        return None
    deed = gone if gone and not order.negated else keep
    assert deed is not None
    if deed[0].lower().startswith("forgot") and not order.frame and "forgott" not in deed[0].lower():
        return None
    if re.search(r"ing\b", deed[0]) and not (order.negated or order.frame == "mind"):
        return None
    asks = order.frame in ("ask", "mind") or order.polite or not is_asked(text, verb)
    if not asks or (order.frame == "let" and not order.negated):
        return None
    return _what_to_forget(order, deed, end)


def _forget_passive(text: str, start: int) -> Request | None:
    """The request to forget what is told before a participle: "what I told you about the bank is to be deleted"."""
    match = _PASSIVE.match(text, start)
    if match is None or is_asked(text, start) or not (match["told"] or _IN_MEMORY.search(match["rest"])):
        return None
    end = sentence_end(text, start)
    subject = match["x"].strip(" ,")
    if not subject:
        return Request(RequestKind.FORGET_THIS, start, end, "")
    return Request(RequestKind.FORGET, start, end, subject, subject_start=text.find(subject, match.start("x")))


def _what_to_forget(order: _Order, deed: re.Match[str], end: int) -> Request | None:
    text = order.text
    begins = re.compile(r"\s*(?:about\s+)?").match(text, deed.end()).end()  # type: ignore[union-attr]
    rest = text[begins:end]
    is_erasing = bool(_ERASE.match(deed[0]))
    says_more = re.search(r"[,;—–]", rest)
    framed = bool(order.frame) or order.polite or order.negated
    if match := _ABOUT.match(rest):
        return order.request(
            RequestKind.FORGET, begins + match.start("x"), _np_end(text, begins + match.start("x"), end)
        )
    if _POINT.match(text, begins) and not (
        says_more and not framed and not re.search(r"\b(?:i|my)\b", rest[: says_more.start()], _I)
    ):
        vague = (
            is_erasing and re.match(r"(?:the|that|this) ", rest) and not _IN_MEMORY.search(rest) and not order.polite
        )
        return order.request(RequestKind.FORGET_THIS, end, end, sure=not vague)
    if re.match(r"it\b", rest) and (order.negated or (is_erasing and _IN_MEMORY.search(rest))):
        return order.request(RequestKind.FORGET_THIS, end, end, sure=bool(_IN_MEMORY.search(rest) or order.polite))
    if re.match(r"it\b", rest) and (
        name_before := NAMED_BEFORE.search(text, 0, len(text[: order.start].rstrip(" ,—–-")))
    ):
        # "That thing, forget it" may only dismiss a topic, unless it is something the owner told the persona.
        sure = (
            bool(re.search(r"\bi(?:'ve| have)? (?:told|said|mentioned|shared)\b", name_before[0], _I)) or order.polite
        )
        return order.request(RequestKind.FORGET_THIS, end, end, sure=sure)
    if re.match(r"(?:me|us|waiting|going|calm|doing|an?|your|up|quiet|still|on|talking|asking)\b", rest, _I):
        return None
    if match := _CLAUSE.match(rest):
        if _IDLE_NOUN.match(rest) or (re.match(r"(?:him|her|them|his|their|he|she|they|there)\b", rest) and not framed):
            return None
        group = "x" if match["x"] else "y"
        noun_only = re.match(r"my \w+(?: \w+)?$", rest[: says_more.start()] if says_more else rest)
        if noun_only and is_erasing and not _IN_MEMORY.search(rest) and not framed:
            return None
        sure = not (says_more and not framed and not re.match(r"(?:that )?i\b", rest, _I))
        return order.request(
            RequestKind.FORGET, begins + match.start(group), _np_end(text, begins, end) if noun_only else end, sure=sure
        )
    if (match := _NOUN.match(rest)) and not _IDLE_NOUN.match(rest):
        about = " about" in deed[0]
        is_kept = re.match(r"remember|sav|stor|record|memori|retain|log", deed[0], _I)
        if not _IN_MEMORY.search(rest) and (is_erasing or not framed or says_more or (order.negated and not is_kept)):
            return None
        return order.request(RequestKind.FORGET, begins, _np_end(text, begins, end), sure=framed or not about)
    return None


def _np_end(text: str, begins: int, end: int) -> int:
    """The end of the object that begins at `begins`: before a comma, or before "from your memory" and the like."""
    match = re.compile(rf"[,;—–]|\s+(?:{_MEMORY})(?=\s*(?:[.,!?]|$|please|ok))", _I).search(text, begins, end)
    return match.start() if match else end


def _name_told(text: str, start: int) -> Request | None:
    lead = re.compile(_LEADS, _I).match(text, start)
    begins = lead.end() if lead else start
    if match := _GOES_BY.match(text, begins):
        name = match["x"].strip("\"“”'‘’ ")
        return Request(RequestKind.NAME, start, match.end(), name, subject_start=text.find(name, begins))
    return None


def _name(order: _Order) -> Request | None:
    text, call = order.text, _CALL.match(order.text, order.verb)
    if call is None or order.frame == "let" or (is_asked(text, order.verb) and order.frame != "ask"):
        return None
    end = sentence_end(text, call.end())
    match = _NAME.match(text, call.end(), min(len(text), end))
    framed = bool(order.frame) or order.polite
    if call["ending"] in ("ed", "d") and not framed:  # "he called me Bernie" reports
        return None
    if order.negated:
        words = re.compile(r"[^,.!?]{1,40}").match(text, call.end(), end)
        instead = re.compile(rf"[,.;]\s*(?:but |just |please )*(?:call me )?(?P<x>{_NAME_WORD})\s*$", _I).search(
            text, call.end(), end
        )
        if instead and re.match(r"[A-Z]", instead["x"].strip("\"“'‘")):
            return order.request(RequestKind.NAME, instead.start("x"), instead.end("x"))
        if words and not re.match(r"(?:when|if|back|later|at|on|in|after|before|a (?:liar|fool))\b", words[0], _I):
            return order.request(RequestKind.WISH, order.verb, end, is_boundary=True)
        return None
    if match and not re.match(rf"(?:{_NO_NAMES})$", match["x"].strip("\"“”'‘’"), _I):
        if re.match(r"\s*(?:,? but (?:i|it|he|she|that)|when |if |back|maybe\b)", match["rest"], _I):
            return None
        return order.request(RequestKind.NAME, match.start("x"), match.end("x"))
    if match := _LOWER_NAME.match(text, call.end()):
        return order.request(RequestKind.NAME, match.start("x"), match.end("x"), sure=framed or text.islower())
    return None


def _wish(order: _Order) -> Request | None:
    text, verb, end = order.text, order.verb, sentence_end(order.text, order.verb)
    clause = text[verb:end]
    whole = text[order.start : end]
    begins = order.start if not order.frame and order.condition is ALWAYS else verb
    lead = re.compile(r"(?:(?:please|pls|and|ok|okay|so)\b[\s,]{0,2}){0,3}", _I).match(text, order.start)
    if match := _NO_MORE.match(text, lead.end() if lead else order.start) or _NO_MORE.match(text, verb):
        return order.request(
            RequestKind.WISH, match.start(), end, is_boundary=bool(re.match(r"no |enough|fewer|less", match[0], _I))
        )
    bare = re.compile(_BARE_WISH.pattern, _I)
    just = re.search(r"\b(?:just|only|simply)\s+$", text[order.start : verb], _I)
    at = order.start + just.start() if just else verb
    if not order.negated and bare.match(text[at:end]) and not is_asked(text, verb):
        return _wished(order, at, end, sure=True)
    match = _VERB.match(text, verb)
    if match is None:
        return None
    if is_asked(text, verb) and order.frame not in ("ask", "mind") and not order.polite:
        return None
    after = _AFTER.search(clause)
    conditional = order.condition is not ALWAYS or bool(after and after.start() > 0)
    standing = bool(_FOREVER.search(whole))
    if _IDIOM.match(clause) and not conditional:
        return None
    negated = order.negated or bool(
        re.match(r"leave me|skip|cut the|drop the|spare me|stay (?:out of|away)", clause, _I)
    )
    if negated:
        if order.frame == "ought":
            return None
        if re.search(r"\b(?:today|tonight|tomorrow|yet|right now|at the moment)\b", clause, _I) and not conditional:
            return None
        if clause.lower().startswith("leave me") and not (standing or conditional):
            return None
        if re.match(r"tell|say|hold|support|wake|calm|thank|greet|care|call", clause, _I) and not (
            standing or conditional or order.polite or order.frame
        ):
            return None
        return _wished(order, begins, end, sure=not is_asked(text, verb) or order.frame in ("ask", "mind"))
    is_manner = bool(_MANNER.match(clause))
    if not (is_manner or standing or conditional):
        return None
    once = bool(
        re.match(
            r"(?:tell me (?:a|the|about|more|what|how|when|if)|remind me|ask me|sing|read me|explain|recommend|"
            r"suggest|say|write|summari|compar)\b",
            clause,
            _I,
        )
    )
    if once and not re.search(
        r"\b(?:always|from now on|every|whenever|each|when i|if i|next time|in (?:the )?future|first)\b", whole, _I
    ):
        return None
    if re.search(r"\bagain\b", clause, _I) and not re.search(
        r"\b(?:always|from now on|every|whenever|when i|if i)\b", whole, _I
    ):
        return None
    if _FOR_ONCE.search(clause) and not (conditional or re.search(r"\bjust listen", whole, _I)):
        return None
    vague = re.match(r"(?:make|keep) it\b", clause, _I) and not (standing or conditional)
    return _wished(
        order, begins, end, sure=not vague and (order.frame != "ought" or standing or is_manner or conditional)
    )


_FOR_ONCE = re.compile(
    r"\b(?:for (?:a|one|this) (?:\w+ )?(?:minute|moment|second|bit|while|day|once)|today|tonight|right now|"
    r"this time)\b",
    _I,
)


def _wished(order: _Order, begins: int, end: int, *, sure: bool) -> Request | None:
    """The requested action, with the condition after it, if any."""
    text, condition, ends = order.text, order.condition, end
    if condition is ALWAYS and (after := _AFTER.search(text, order.verb, end)) and after.start() > order.verb:
        condition, ends = condition_of(after["c"]), after.start()
    lead = re.compile(
        r"(?:(?:and|but|so|also|oh|ok|okay|hey|hi|well|now|then|please|pls|plz|actually|no|wait|sorry|from now on|"
        r"in (?:the )?future|for now|next time|[a-z]\w{1,20}(?=,))\b[\s,:]{1,3}){0,5}",
        _I,
    ).match(text, begins)
    begins = lead.end() if lead and lead.end() < ends else begins
    if order.negated and order.frame in ("", "ask", "want", "mind", "sure", "nice", "let"):
        denial = re.compile(r"\b(?:don't|do not|dont|never|not|no longer|stop|quit|avoid)\b", _I).search(
            text, order.start, order.verb
        )
        begins = denial.start() if denial else begins
    elif order.negated:
        speaker = re.compile(r"\b(?:i|you)\b", _I).search(text, order.start, order.verb)
        begins = speaker.start() if speaker else begins
    boundary = order.negated and bool(_MATTER.match(text, order.verb))
    topic = text[order.verb : end]
    if condition is ALWAYS and boundary and (about := re.search(r"\b(?:about|of|mention|up)\s+(?P<x>.+)", topic, _I)):
        condition = condition_of(f"about {about['x']}") if _PERSON.search(f"about {about['x']}") else ALWAYS
    return order.request(
        RequestKind.WISH, begins, ends, condition=condition, sure=sure, is_boundary=boundary or order.negated
    )
