"""English phrases, as they stand in plain forms: lower case, no apostrophes ("cant", "im")."""

import re

from chat.care.phrase import Phrase

_END = r"(?=\s?(?:$|[.,!?;:…)\"-]))"
_FILL = (
    "(?: (?:really|just|so|fucking|fckn|fkn|even|ever|only|simply|actually|literally|honestly|kinda|kind of|"
    "sort of|damn|already|be|right|now|badly|desperately|much|please|finally|all|fully))"
)
_PEOPLE = (
    r"(?:he|she|they|husband|boyfriend|bf|wife|girlfriend|gf|dad|father|mom|mum|mother|stepdad|stepfather|partner|ex|"
    r"brother|uncle|someone|somebody)"
)
_DIED = (
    "(?:just |suddenly |really )?(?:died|die|was dead|were dead|was gone|were gone|disappeared|disappear|"
    "am gone|vanished|werent here|wasnt here|werent around|wasnt around|killed|ended|stopped existing|"
    "never woke|didnt wake|never existed|wasnt born|was never born)"
)
_LIVE_TAIL = (
    r"(?! ?(?:in\b(?! (?:this (?:world|pain|hell|body|life|way)|pain|fear|hell))|at\b|with\b(?! (?:this|"
    r"myself|the (?:pain|guilt|shame)|it))|here\b(?! any)|there\b|near\b|by\b|on\b(?! (?:any|like|"
    r"this (?:earth|planet)))|off\b|alone\b|together\b|next\b|without (?:my|a|an|the|wifi|coffee|internet|"
    r"music)\b|under\b|out\b|up\b|where\b|far\b|close\b|a lie|abroad|music|stream|blog|paycheck|for the|"
    r"through|from\b|as\b))"
)
# Where one of these stands in the sentence, somebody tells of the news, of history, or of a story.
_TOLD = re.compile(
    r"\b(?:movies?|films?|novels?|books?|chapters?|songs?|lyrics?|albums?|bands?|episodes?|seasons?|series|tv|"
    "characters?|protagonists?|plot|games?|gameplay|boss|documentar(?:y|ies)|podcasts?|articles?|news|"
    "newspaper|headlines?|reported|reports|study|studies|statistics|stats|survey|rates?|laws?|bill|history|"
    "essay|thesis|lectures?|professor|poems?|plays?|opera|shakespeare|hamlet|romeo|juliet|werther|hemingway|"
    "woolf|plath|cobain|karenina|netflix|anime|manga|comics?|roman|emperor|general|soldiers|police|court|"
    "celebrity|actor|singer|according to|research|museum|exhibition|trailer|director|dungeon|minecraft|raid|"
    r"quest)\b"
)
_OWN = re.compile(
    r"(?:\b(?:im|i am|i feel|i felt|i get|ive been|i was|makes? me|made me) (?:\w+ ){0,2}|\b(?:i|im|ive|my|"
    r"me)\b[^.!?]{0,32}\b(?:want(?:ed)? to|wanna|going to|gonna|tried|try|attempt(?:ed)?|consider(?:ed|ing)?|"
    r"contemplat\w+|planning|plan|thinking (?:about|of)|thoughts? (?:about|of)|urges? to|feel like|about to|"
    r"my own) (?:\w+ ){0,2})$"
)


def _phrase(keys: str, words: str, *, not_before: str = "", not_after: str = "", mention: bool = False) -> Phrase:
    return Phrase(
        tuple(keys.split("|")),
        re.compile(words, re.ASCII),
        re.compile(f"(?:{not_before})$", re.ASCII) if not_before else None,
        re.compile(not_after, re.ASCII) if not_after else None,
        _TOLD if mention else None,
        _OWN if mention else None,
    )


ENGLISH = (
    # --- the wish to die ---------------------------------------------------------------------------------------------
    _phrase(
        "die|dead|dying",
        r"\b(?:want(?:s|ed|ing)?|wanna|wish|need|ready|deserve[sd]?|hope|hoping|trying|tried|prefer|plan(?:ning)?|"
        "decided|better|longing|about time|pray(?:ing)?|supposed|time for me|feel like|"
        rf"beg(?:ging)?)(?: for me)?{_FILL}{{0,3}}(?: ?to| (?:that )?i could| i can| i)?{_FILL}{{0,3}} ?(?:die\b|"
        r"be dead\b)",
        not_before=(
            r"\b(?:dont|do not|didnt|did not|doesnt|does not|never|not|nobody|no one|without|plants?|phone|battery|"
            "laptop|car|computer|cactus|fern|basil|flowers?|motor|engine|wifi|printer)(?: (?:really|even|actually|"
            "just|is|are|keeps?))? "
        ),
        not_after=(
            r" (?:of|from)\b(?! (?:this|everything|life|it all))| laughing| my hair\b|"
            r" for (?:you|this|that|a |my country)| hard\b| on (?:that|this) hill|"
            r"[^.!?]{0,14}\b(?:game|level|boss|dungeon|raid|match|minecraft)\b| trying|"
            " alone in"
        ),
    ),
    _phrase("wanttodie|wantdie|wannadie", r"(?:want(?:to)?|wanna)die\b"),
    _phrase(
        "die|dead|dying|death",
        r"\b(?:let me(?: just)? die\b|help me die\b|i should(?: just)? (?:die|be dead)\b|id rather (?:be dead|"
        rf"die){_END}|better (?:off )?dead\b|might as well (?:be dead|die)\b|wish(?:ed|"
        rf"ing)? (?:that )?i(?:{_FILL})? (?:was|were|am|could be) dead\b|i hope i die\b|going to die (?:tonight|"
        "today)|gonna die (?:tonight|today)|not (?:afraid|scared) (?:to die|of dying)|(?:wait(?:ing)?|"
        r"waiting for me) to die\b|dont care (?:if|whether) i (?:live or )?die\b|(?:nobody|no one|"
        "noone) cares? (?:if|whether) i die|i belong dead|death (?:would be|sounds|seems) (?:better|nice|good|"
        r"easier|like a relief|peaceful|a relief|so)|dead inside\b|pray(?:ing)? for death|should have died|"
        "shouldve died|rather be dead|happier dead)",
    ),
    _phrase(
        "if i |when i |nobody|no one|noone|everyone|everybody",
        r"\b(?:would|will|does|do) (?:\w+ ){1,4}(?:care|notice|miss me|mind|cry|be sad|even know|be happier|"
        f"be better(?: off)?|remember me)(?: (?:me|at all|even|anyway))? (?:if|when) i {_DIED}|"
        rf"\bif i {_DIED}(?: \w+){{0,3}},? (?:would|will|nobody|no one|noone|none|everyone|everybody|they|who|itd|"
        r"it would|maybe|the world)|\b(?:nobody|no one|noone|everyone|everybody)(?: would| will|d|"
        r"ll)(?: \w+)? (?:care|notice|miss me|mind|be happier|be better(?: off)?|"
        f"be relieved)(?: if i {_DIED}| when im gone|{_END})",
        not_after=(
            r"(?: for (?:a|the|some)| on | to | at | from |[^.!?]{0,20}\b(?:game|level|meeting|party|vacation|holiday|"
            r"work)\b)"
        ),
    ),
    _phrase(
        "dying|death|to die|disappear|not exist",
        r"\b(?:think(?:ing)?|thought|thoughts|dream(?:ing)?|fantasi[sz](?:e|ing)|"
        r"daydream(?:ing)?)(?: \w+)? (?:about|of) (?:dying|my (?:own )?death|ending (?:it|my)|killing myself|"
        r"being dead|disappearing forever|not (?:being alive|existing))|\bfeel(?:s|ing)? like dying|\b(?:have|"
        "had) you ever (?:thought (?:about|of)|wanted|considered|felt like) (?:to die|dying|death|not existing|"
        r"disappearing)|\bdo you ever (?:think about|wish|want|feel like) (?:dying|to die|death|disappearing|"
        r"not existing|you (?:were|was) dead|you could(?: just)? disappear)|\bwhat (?:does|would|"
        r"do you think) (?:dying|death|being dead)(?: would| does)? feels? like|\bdoes (?:it hurt to die|"
        r"dying hurt)|\bwill it hurt to die|\bis dying painful",
        not_after=r" (?:my|her|his|the|it|your)\b(?= (?:hair|shirt|dress|fabric|roots))",
    ),
    _phrase(
        "die|kill|suicide|overdose|to go",
        r"\b(?:easiest|quickest|painless|least painful|best|fastest|most peaceful|peaceful|pain ?free|"
        r"less painful|nicest) (?:way|method)s?(?: \w+){0,2} (?:to )?(?:die\b|kill (?:myself|yourself|oneself)|"
        r"suicide|end (?:my|your|it))|\bhow (?:can|do|could|should|would) i (?:just )?(?:die|kill myself|"
        r"stop existing|disappear forever)\b|\bways to (?:die|kill myself)\b|\bhow many (?:pills|tablets|"
        r"\w+) (?:(?:would|does|do|will) it )?(?:take|needed)?(?: \w+){0,2} ?to (?:die|kill|overdose|od)\b|"
        r"\bhow (?:much|long)(?: \w+){1,4} to (?:die|kill (?:myself|you|yourself)|overdose)\b",
        not_after=(
            r"[^.!?]{0,16}\b(?:game|level|boss|west|minecraft|roblox|zelda|dark souls|elden ring|weeds|mold|ants|"
            r"mosquito\w*)\b"
        ),
    ),
    # --- suicide, in its names ---------------------------------------------------------------------------------------
    _phrase(
        "kil",
        r"\bkil+(?:ed|ing|s)? ?(?:my ?self|me ?self)\b",
        not_after=(
            " (?:laughing|(?:at|in) (?:work|the gym)|with (?:work|overtime|laughter)|trying|studying|working)|"
            "(?<=ing myself) (?:to (?:finish|get|make|meet|please|be|pay|keep|pass|lose)|over (?:this|that|a|the)|"
            "for (?:this|that|a|the|my))"
        ),
        not_before=r"\b(?:practically|nearly|almost) ",
    ),
    _phrase(
        "suicid|sui cid|sui-cid|sui.cid|sewerslide|sewer slide|unaliv|un-aliv|unlive|toaster bath|self delet|"
        "self-delet|sucide|suiside|suicde",
        r"suicid(?!eboys|e ?boys)|\bsui[ .\-_]cid|sewer ?slide|\bun-?aliv|\bunlive myself|toaster bath|"
        r"\bself[ -]delet(?:e|ion)\b|\bsucide\b|\bsuiside\b|\bsuicde\b",
        not_before=(
            r"\b(?:political|career|social|commercial|corporate|economic|financial|professional|electoral|demographic|"
            "race|twitter|brand|diplomatic|fashion|cultural|cell|platform|market|business|pr|fiscal|ritual) "
        ),
        not_after=(
            "(?<=suicid)e(?: (?:squad|doors?|cables?|bomb|burn|king|silence|wings|slide|missions?|statistics|pass|"
            "vest|attack|drill|sprints?|runs?|girls|lane|clutch|shift|forest|gene|blitz|awareness|prevention (?:day|"
            "month|week|training|course|class|awareness|conference|walk|talk|policy))|-bomb)|"
            "(?<=suicid)al (?:empathy|squirrel|deer|pigeon|bugs?|moth)"
        ),
        mention=True,
    ),
    _phrase(
        "kms",
        r"\b(?:gonna|ill|i will|want to|wanna|might|should|imma|going to|about to|need to|i could|please|lowkey|"
        r"literally|ima) (?:just )?kms\b|(?:^|[.,!?;] ?)kms(?: (?:lol|lmao|rn|fr|pls|please|now|bye|already|"
        r"fr fr))?(?=$| ?[.,!?;])|\bkms (?:lol|lmao|rn|fr)\b",
    ),
    _phrase("kys", r"\bkys\b"),
    _phrase(
        "how much longer i|dying hurts|hurts to die|what if i|matter if i|still alive|even alive|am i alive|"
        "i alive|stop thinking|about death|strong enough|brave enough|cares if i|care if i",
        r"\b(?:dont know|not sure) how much longer i can (?:hold on|take|go on|do this|keep)|"
        rf"\bdo you think (?:dying hurts|it hurts to die)|\bwhat if i {_DIED}|\bwould it(?: even|"
        rf" really)? matter if i {_DIED}|\bwhy am i(?: still| even)? (?:alive|living|breathing){_END}|\b(?:cant|"
        r"cannot) stop thinking (?:about|of) (?:death|dying)|\bthink(?:ing)? (?:about|of) death (?:all|every|"
        r"a lot|constantly)|\bnot (?:strong|brave) enough to (?:keep|go on|carry on|live|face another)|"
        r"\b(?:nobody|no one|noone) cares? (?:if|whether|that) i (?:live|exist|am alive|wake)",
        not_after=r"[^.!?]{0,20}\b(?:game|level|boss|minecraft|raid)\b",
    ),
    _phrase(
        "hits me|hit by|hit me|run over|runs me over|pills in|gun in|blade in|pills ready|on the|on a",
        r"\b(?:hope|wish|praying|pray|want)(?: \w+)? (?:a|some|the|that) (?:car|truck|bus|train|lorry)(?: would|"
        r" just)? (?:hits?|runs?(?: me)? over|kills?)\b|\b(?:hope|wish|want)(?: that)?(?: i| id| to)?(?: would|"
        r" could)? (?:get|got) (?:hit|run over) by\b|\b(?:pills|razor|razor blade|blade|gun)s? (?:(?:is|"
        r"are) )?(?:ready )?(?:in my hand|in front of me)\b|\bon (?:the|a) (?:bridge|roof|rooftop|ledge|balcony|"
        r"edge)\b[^.!?]{0,24}\b(?:want to|wanna|going to|gonna|about to|ready to|could) (?:jump|let go|fall)\b",
    ),
    _phrase(
        "life|it all|everything|existence|suffering|misery|pain|end it|end things|end myself|ending it",
        r"\b(?:end|ending|ended) (?:it all\b|(?:my|this|his|her|their) (?:own |miserable |pathetic |stupid |"
        r"worthless |whole |entire )?(?:life|existence|suffering|misery)\b|my pain\b|things for good)|\b(?:take|"
        r"taking|took|taken) (?:my|his|her|their) own life|\b(?:take|taking) my life\b|\bend ?my ?life\b|"
        r"\bthrow(?:ing)? my life away|\b(?:end|off|delete) my ?self\b|\b(?:ending|offing) my ?self\b",
        not_after=(
            r" (?:back|to\b|in\b|into|seriously|for granted|by|one|as|and (?:run|put)|insurance|story|together|"
            "savings|up|further|subscription)"
        ),
        not_before=r"\b(?:show|showing|laugh\w* my (?:ass|head)|pissed) ",
    ),
    _phrase(
        "end it|finish it|end things|ending it",
        r"\b(?:want|wanna|wanted|wanting|going|gonna|ready|need|time|trying|like|planning|thinking (?:about|of)|"
        "should|might|could)(?: to)?(?: just)? (?:end|ending|finish) (?:it|things)(?: (?:tonight|now|today|all|"
        f"already|soon|for good|once and for all|please))?{_END}",
    ),
    # --- not wanting to be -------------------------------------------------------------------------------------------
    _phrase(
        "wish",
        r"\bwish(?:ed|ing)? (?:that )?i(?:d| had| was| were| could| would)?(?: just| simply|"
        " only)? (?:never (?:been )?(?:born|existed|woken up|wake up|woke up)|(?:didnt|did not|wasnt|werent|"
        "hadnt) (?:exist|wake up|been born|woken up|alive|born|here any ?more)|not (?:alive|exist|wake up|"
        r"be (?:here|alive))|(?:disappear|vanish)\b|stop (?:existing|being)|cease|fall asleep and (?:never|not)|"
        r"go to sleep and (?:never|not)|sleep forever|fade away|die\b)|\bwish i (?:was|were) (?:gone|"
        f"not here){_END}",
        not_after=r" (?:to |into|for (?:a|the|some)|on\b|early|at\b)",
    ),
    _phrase(
        "wak|woke",
        r"\b(?:(?:dont|do not|didnt|did not|never|not|no longer|nt)(?: (?:really|even|ever))? (?:want|wanna|"
        "wanting|wish|care)(?: to)?(?: ever)?|(?:hope|wish|pray|hoping|wishing|praying|if only)(?: that)? (?:i|"
        "id|ill)(?: just| simply)? ?(?:dont|do not|didnt|wont|never|would never|could not|just not|"
        "wouldnt)(?: ever)?|(?:sleep|asleep)(?: forever)? and(?: just)? (?:never|not|dont)|rather (?:not|never)|"
        r"want to (?:never|not)) wak(?:e|ing|en) up\b",
        not_after=(
            r" ?(?:early|at\b|before|so\b|to (?:the|my|a|an|this|his|her|\w+ing)\b|from|the\b|him|her|them|my\b|"
            r"for (?:work|school|class)|next|on\b|with|late|alone|in this house|yet|my\b|and (?:go|find|see))"
        ),
    ),
    _phrase(
        "live|living|alive|exist|be here|be around|see tomorrow|another day|this world|this earth|this planet",
        r"\b(?:dont|do not|didnt|did not|no longer|never|not|dnt)(?: (?:really|even|just|actually))? (?:want|"
        "wanna|wanting|wish|feel like|deserve|care|know if i want|think i want|think i can)(?: to|"
        " i)?(?: (?:even|really|just))? ?(?:(?:live|living|go on living|keep living|continue living|exist|"
        r"existing|be alive|being alive|stay alive|continue existing)\b"
        + _LIVE_TAIL
        + "|be (?:here|around) any ?(?:more|longer)|be (?:in|on) this (?:world|earth|planet)|see (?:tomorrow|"
        r"another day)\b)",
    ),
    _phrase(
        "live|exist|living|alive|life",
        r"\b(?:cant|cannot|can not|couldnt) (?:live|exist|keep living|go on living|"
        "continue living)(?: (?:like this|any ?more|any longer|with (?:this|myself|the (?:pain|guilt|shame))|"
        r"this way|in this (?:pain|hell|world))\b)|\b(?:hate|tired of|sick of|done|done with|fed up with|"
        "exhausted (?:of|from)|through with|bored of|over|weary of|regret) (?:being (?:alive|here)|living|"
        r"existing|life|my existence|this life)\b"
        + _LIVE_TAIL
        + r"(?! (?:expenses|room|insurance|sciences?|costs?|admin))|\btired of it all\b|"
        r"\btired of (?:waking up every|being me)\b|\bgiv(?:e|en|ing) up on (?:life|living|everything|myself)\b|"
        r"\bgave up on (?:life|living|everything)\b",
        not_before=r"\b(?:not|never|nt|dont) (?:really |even )?",
    ),
    _phrase(
        "living|live|life|go on|it all|going on|alive|exist|anything",
        r"\b(?:no|any|another|one|a single|nothing|without|find|give me|lost|lose|losing|last|have a|need a|"
        r"know the|see the|see any|see a)(?: \w+)? ?(?:reason|point|purpose|will|wish|desire|motivation|strength|"
        "sense|use)s?(?: for me)? (?:left )?(?:to|in|of|for) (?:keep |go on |continue )?(?:live|living|go on|"
        "going on|carry on|be(?:ing)? alive|be(?:ing)? here|stay alive|exist|existing|wake up|life|it all|"
        r"keep going|my life|anything)\b"
        + _LIVE_TAIL
        + r"|\bwhats? (?:is |even is )?(?:the )?(?:even )?(?:the )?point (?:of|in) (?:living|life|it all|anything|"
        r"going on|any of (?:this|it)|being (?:alive|here)|existing|me|going on living)\b"
        + _LIVE_TAIL
        + r"|\bnothing(?: left)? to live for\b|\bnot(?:hing)? (?:much )?(?:left )?(?:to live for|worth living for)\b",
    ),
    _phrase(
        "worth",
        r"\b(?:life|it|this|living|my life) (?:isnt|is not|aint|is no longer|isnt even|doesnt (?:seem|feel)|"
        r"just isnt|wasnt)(?: really| even)? worth (?:living|it any ?more|going on)\b|\b(?:is|if) (?:life|it|"
        "living|my life)(?: even| really| still| actually)?(?: is| was)? (?:worth (?:living|it to live|going on|"
        r"being alive)|worth it any ?more)\b|\bwhether (?:life|its|it is|living)(?: \w+)? worth (?:living|it)\b|"
        r"\bnot worth (?:living|being alive)\b|\b(?:is|isnt) living worth it",
        not_after=" (?:at|there|here|with|near|together|by|in (?!this))",
    ),
    _phrase(
        "life|living",
        r"\b(?:my )?life (?:is|feels|seems|has become)(?: so| just| totally| completely)? (?:meaningless|"
        r"pointless|hopeless|worthless|over\b|not worth)|\bno meaning (?:in|to) (?:my )?life\b|"
        r"\blife has no (?:meaning|purpose|point)|\bi (?:feel|am|felt)(?: so| completely| totally|"
        r" really)? hopeless(?! (?:at|with|romantic))|\bim (?:so |completely |totally |"
        "feeling )?hopeless(?! (?:at|with|romantic))",
        not_before=r"\b(?:battery|shelf|half|still|real|love|sex|night|after) ",
    ),
    _phrase(
        "hopeless",
        r"\b(?:feel|feeling|felt)(?: so| completely| totally| really| utterly)? hopeless(?! (?:at|with|romantic))",
    ),
    _phrase(
        "without me|burden|need me|better off if|better if",
        r"\bbetter(?: off)? (?:without me|if i (?:wasnt|werent|was gone|were gone|had never|never|left this|died|"
        r"disappeared|was dead|were dead))|\b(?:happier|easier) without me\b|\bworld (?:would|will) (?:go on|"
        r"be fine|be better) without me|world (?:doesnt|does not) need me|\b(?:im|i am|me|being|feel like|become|"
        r"just|such|am)(?: such| just| only| nothing but)? a burden\b|\bburden (?:to|on) (?:every|my|you|them|"
        "all of|people|others)",
        not_after=r"[^.!?]{0,24}\b(?:team|meeting|party|project|match|game|tonight|show|lineup)\b",
    ),
    _phrase(
        "disappear|vanish|exist|fade away|be gone|be erased|be no more|not be",
        r"\b(?:want|wanna|wanted|wish i could|need|ready|rather|feel like|felt like|hope i|hope i can|"
        "if i could)(?: to)?(?: just| simply| completely| all| really)* ?(?:disappear(?:ing)?|vanish(?:ing)?|"
        r"cease to exist|stop existing|not exist(?:ing)?|fade away|be erased|be gone\b|not be (?:here|alive)|"
        "be no more|cease existing|stop being alive)",
        not_before=r"\b(?:it|stain|doesnt|does not|wont|spot|cat|rash|bug|nt|not|they) ",
        not_after=(
            r" (?:to\b|into|for (?:a|the|some|few)|from (?:the|this|that|my)|on\b|in (?:a|the|my)\b|by\b|under|with\b|"
            "until|before|completely from the)|ing act"
        ),
    ),
    _phrase(
        "forever|eternal|never wake",
        r"\bsleep forever\b|\b(?:fall|go) (?:a)?sleep(?: \w+)? and never\b|\bto never wake\b|"
        r"\bnever have to wake up\b|\beternal sleep\b",
        not_before=r"\b(?:could|cat|dog|baby) (?:just )?",
    ),
    # --- not being able to go on -------------------------------------------------------------------------------------
    _phrase(
        "go on|carry on|keep going|keep on|continue|survive",
        r"\b(?:cant|cannot|can not|cant even|dont (?:want|wanna)(?: to)?|do not want to|no longer (?:want|can|"
        "able to)(?: to)?|unable to|not able to|couldnt|wont be able to|too (?:tired|weak|exhausted|broken) to|"
        "how (?:can|do|am|could) i|why (?:should|do|would|must) i(?: even| still)?|no (?:strength|energy|power|"
        "will)(?: left)? to|not sure i (?:can|want to)|dont know (?:how|"
        "if i can)(?: i can)?(?: to)?)(?: (?:really|just|even|possibly|honestly|have to))? (?:go on|carry on|"
        f"keep going|continue|survive)(?:{_END}| (?:like this|living|any ?more|any longer|much longer|this way|"
        r"with (?:my life|this life|life|this pain)|without (?:him|her|them|you)\b|pretending|existing|"
        r"another day|and i\b|but i\b))",
        not_before=r"\b(?:show|party|game|meeting|tour|we|they|it|this|that) ",
    ),
    _phrase(
        "any more|anymore|any longer|anylonger|much longer|pain|do life|cope",
        r"\b(?:cant|cannot|can not|couldnt) (?:(?:take|do|handle|bear|stand|endure|deal with) (?:it|this|life|"
        "the pain|all this|any of this|this life|this pain|living)(?: all| life| pain)?(?: any ?more|"
        r" any longer)|(?:take|bear|stand|endure) (?:the|this) pain\b|do life\b|cope(?: any ?more| any longer|"
        f" with life){_END}|cope{_END}|(?:hold|hang) on (?:any ?longer|any ?more|much longer))",
        not_after=r" (?:seriously|slowly|lightly|personally|literally)\b",
    ),
    _phrase(
        "jump|stand|sitting|ending|exist|be alive|end of my rope|last message|on the ledge|not safe|in crisis|what i |"
        "keep doing this",
        rf"\b(?:im|i am)(?: really| just)? (?:going to|gonna|about to) jump{_END}|\bif i (?:just )?(?:jump|jumped|"
        r"threw myself) (?:off|from|out of|in front of)\b|\b(?:im|i am) (?:standing|sitting) on (?:the|a) (?:edge|"
        rf"ledge|roof|rooftop|railing|bridge|train tracks|tracks){_END}|\bending (?:it|things)(?: all)? (?:tonight|"
        r"today|now)\b|\bi (?:wont|will not|will no longer) (?:exist|be alive)\b(?! (?:in|on|at))|"
        r"\b(?:im|i am) (?:on the ledge\b|not safe (?:right now|tonight|alone|with myself)|in crisis\b)|"
        rf"\b(?:scared|afraid) of what i (?:might|could|will|may) do(?: to myself)?{_END}|"
        rf"\bcant keep doing this{_END}|\bat the end of my rope{_END}|\bthis is my last message{_END}",
        not_after=(
            r"[^.!?]{0,48}\b(?:view|sunset|sunrise|sun|photos?|pictures?|with|pool|water|trampoline|rope|parachute|"
            r"skydiv\w*|bungee|game|level|printer|for (?:today|now|tonight)|until|talk|see you|good night)\b"
        ),
    ),
    _phrase(
        "cutting|cut too deep|bleeding",
        rf"\b(?:been|started|back to|stop) cutting(?: (?:again|every \w+|a lot|since \w+))?{_END}|\bcut too deep\b",
        not_after=(
            r"[^.!?]{0,40}\b(?:gym|calories|carbs|weight|bulk\w*|fabric|wood|hair|grass|onions?|meat|paper|sugar|film)\b"
        ),
        not_before=r"\b(?:cost|price|hair|glass|meat|wood|fabric|calorie|been) ",
    ),
    _phrase(
        "knife|gun",
        rf"\b{_PEOPLE} (?:has|is holding|got|pulled|grabbed)(?: out)? (?:a|the|his|her) (?:knife|gun)\b[^.!?]{{0,40}}"
        r"\b(?:kill|hurt|stab|shoot|on me|at me|afraid|scared)\b|\bkill me\b[^.!?]{0,24}\b(?:has|holding|got|"
        r"pulled) (?:a|the) (?:knife|gun)\b",
        mention=True,
    ),
    _phrase(
        "make it",
        r"\b(?:wont|dont think (?:i can|ill)|not going to|cant|not gonna|doubt ill|dont know if (?:ill|i can)|"
        r"not sure i(?:ll| can)) make it (?:through (?:the night|tonight|another)|to (?:tomorrow|morning)\b|"
        "till (?:tomorrow|morning)|another (?:day|night))",
    ),
    _phrase(
        "way out|future",
        r"\b(?:only|see no|dont see (?:a|any)|cant see (?:a|any)|there is no|theres no|no other|"
        r"find a) (?:other )?way out(?! of (?:the|my|a)\b)\b(?=[^.!?]{0,12}$| ?[.,!?;]| of this)|\b(?:i have|"
        r"i see|theres|there is) no future for me\b|\bdont see a future\b",
        not_before=r"\b(?:maze|traffic|parking|building|garage|contract|level|house)[^.!?]{0,20}",
    ),
    _phrase(
        "breakdown|break down|breaking down",
        r"\b(?:mental|nervous|emotional|psychotic|complete|total|full|massive|another|huge|full-on|"
        r"actual) break ?down\b|\b(?:have|having|had|verge of a|edge of a|brink of a|into a|close to a|"
        "heading for a|near|about to have)(?: a| an| some kind of a?| my| like a| this)?(?: little| real|"
        r" serious| small| bad)? ?breakdown\b|\bmy (?:own )?breakdown\b|\bkeep breaking down(?: (?:crying|"
        r"in tears|again|every))|\b(?:i am|im|i feel like im)(?: about to)? break(?:ing)? down\b|"
        "^i? ?breakdown[.! ]*$",
        not_before=(
            r"\b(?:car|bus|train|truck|van|bike|engine|machine|server|vehicle|motorcycle|lorry|elevator|system|boiler|"
            "song|band|track|riff|guitar|cost|price|budget|tax|expenses?|time|data|vote|score|stats|"
            r"printer)s?\b[^.!?]{0,24}|\b(?:do|can|could|may|did|does|would|should|will|let) (?:you|we|they|"
            r"us)(?: please)? |\bwomen on the |\bcould i |\bcan i |\bmay i "
        ),
        not_after=(
            r" (?:of\b|by\b|for\b|in (?:the )?(?:costs?|talks|negotiations|communication)|service|cover|truck|lane|"
            r"recovery|insurance|structure|per\b|table|chart|sheet|(?:the|a|an|this|these|those|each|it|some|"
            r"all)\b|my (?:task|work|budget|plan)|boxes|cardboard|barriers|walls|numbers|"
            r"on (?:the (?:highway|road|m\d|motorway|costs|"
            "budget|drums))|section|riff|solo|into)|,? (?:with|including) (?:vat|tax)"
        ),
    ),
    _phrase(
        "to end|to stop|to be over|to go away",
        r"\b(?:i|id)(?: just)? (?:want|like|need) (?:the pain|it all|everything|my life|my suffering|all of (?:it|"
        r"this)|this pain|the suffering|the voices)(?: all)?(?: just)? to (?:end|stop|be over|go away)\b",
    ),
    _phrase("pain stop|all stop", r"\bmake (?:the pain|it all) stop\b"),
    # --- harm --------------------------------------------------------------------------------------------------------
    _phrase("harm", r"\bself ?-?harm(?:ed|ing|s)?\b(?! reduction)", mention=True),
    _phrase(
        "myself|my self",
        r"\b(?:cut|cutting|cuts|burn|burning|burned|hurt|hurting|harm|harming|harmed|starve|starving|starved|"
        "punish|punishing|injure|hang|hanging|hanged|hung|drown|drowning|drowned|shoot|shooting|shot|stab|"
        r"stabbing|stabbed|poison|poisoning|poisoned|strangle|suffocate|electrocute) my ?self\b",
        not_before=r"\b(?:accident(?:al)?ly|by accident|nt|not|without|literally) ",
        not_after=(
            r" (?:some slack|short|off|loose|out|free|up\b|in(?:to)? (?:half|shape|work|my work|ice cream|chocolate|"
            "coffee|tea|debt|a (?:race|match|game|fall|accident)|the (?:gym|kitchen|garden|process|race|match|game|"
            "foot))|a (?:slice|piece|break|bit|text|video|message|selfie|reminder)|an email|while|when i (?:was|fell|"
            r"tripped|tried|opened)|on (?:a|the|my|some)\b|at\b|shaving|cooking|chopping|slicing|playing|running|"
            "doing|lifting|skiing|working|by accident|accidentally|opening|peeling|with (?:a|the) (?:paper|tin|can|"
            "kitchen|cheese|bread|hot|iron|oven|knife (?:while|when|cutting|chopping|making|cooking))|"
            "again (?:shaving|cooking)|badly (?:at|while|when|skiing|playing)|in (?:the )?(?:work|sugar|frosting|"
            "paint)|from (?:social|the (?:group|conversation)))"
        ),
    ),
    _phrase(
        "overdos|od on|lethal dose|fatal dose|noose|bleach",
        r"\b(?:i|im|ive|to|want|gonna|tried|my|almost|and|of|about) (?:just |nearly |almost )?over ?dos(?:e|ed|"
        r"ing)\b|\b(?:lethal|fatal) dose\b|\bnoose\b|\b(?:drink|drank|drinking|swallow\w*|chug\w*) (?:some |"
        "the )?bleach",
        not_after=(
            " (?:on|of) (?:cuteness|sugar|chocolate|caffeine|coffee|cookies?|vitamin|tv|netflix|christmas|cheese|"
            "pizza|news|work|the news|love|kindness|candy|cake|memes|cute)|-?free"
        ),
        mention=True,
    ),
    _phrase(
        "pills|tablets|meds|medication|paracetamol|tylenol|xanax",
        r"\b(?:took|taken|swallowed|downed)(?: (?:about|like|over))? (?:[2-9]\d|\d{3}|twenty|thirty|forty|fifty|sixty|"
        r"a hundred)(?: \w+)? ?(?:pills|tablets|tylenol|paracetamol|xanax|antidepressants)\b|"
        r"\b(?:took|taken|take|taking|swallow(?:ed|ing)?|downed|down|saved|saving|counted|counting|hoarding|"
        r"stockpil\w+)(?: \w+){0,2} (?:all|bottle|whole|entire|too many|so many|handful|"
        r"enough)(?: \w+){0,4} (?:sleeping pills|pills|tablets|tylenol|paracetamol|xanax|antidepressants|meds|"
        r"medication)\b",
        not_after=(
            " (?:on time|this morning|every|daily|as prescribed|with (?:food|water|breakfast)|for (?:the|my) (?:trip|"
            "cold|flu))"
        ),
    ),
    _phrase(
        "bridge|roof|building|balcony|cliff|window|train|traffic|bus|truck|car|tracks|overpass|subway|tree|wall|ledge",
        r"\b(?:want|wanna|gonna|going to|think(?:ing)? (?:about|of)|feel like|could|should|might|ready to|"
        "about to|urge to|ill|i will|tempted to|imagine|imagining|myself|consider(?:ing)?|keep|need to|"
        r"rather)\b[^.!?]{0,24}?\b(?:(?:jump|jumping|leap|leaping|throw(?:ing)? myself|step|stepping|fall|"
        r"falling)(?: right| straight)? (?:off|from)(?: of)? (?:the|a|my|this|that|an|some) (?:\w+ )?(?:bridge|"
        "roof|rooftop|building|balcony|cliff|overpass|ledge)|(?:jump|jumping|step|stepping|walk|walking|"
        "throw(?:ing)? myself|lie|lying)(?: right| straight| out| down)? (?:in front of|under|into|onto|"
        r"on) (?:the|a|an|some|oncoming|my)? ?(?:\w+ )?(?:train|traffic|bus|truck|tracks|subway)\b|(?:jump|"
        r"jumping|throw(?:ing)? myself) out (?:of )?(?:the|a|my|this|that) (?:\w+ )?window|(?:drive|driving|crash|"
        r"crashing|steer|steering)(?: my car)? (?:into|off) (?:a|the|that|oncoming) (?:\w+ )?(?:tree|wall|traffic|"
        "bridge|cliff|truck))",
        not_after=(
            r"[^.!?]{0,24}\b(?:bungee|parachute|swim|pool|lake|game|video|stunt|parkour|skydiving|sim|level|seat|"
            r"to (?:work|town|the (?:city|airport)))\b"
        ),
        not_before=r"\b(?:if (?:your|my|his|her|the|all) friends?[^.!?]{0,20}|bungee )",
    ),
    _phrase(
        "gun|bullet|brains",
        r"\bgun (?:to|in|against) my (?:head|mouth|temple)\b|\bbullet (?:in|through|to) my (?:head|brain|skull)\b|"
        r"\bblow(?:ing)? my (?:brains|head) out\b",
        not_before=(
            r"\b(?:if (?:you|someone|somebody|they|u)|you|they|he|she|with|held|holding|literally had)(?: \w+)? a "
        ),
    ),
    _phrase(
        "wrist|vein|my throat|my arm|my thigh|my leg",
        r"\b(?:slit|slash|cut|slice)(?:s|ting|ing|ed|d)? (?:my|open my) (?:wrists?|veins?|throat|arms?|thighs?|"
        r"legs?)\b",
        not_after=" (?:shaving|while|when|on (?:a|the)|hair|at\\b|opening|by accident)",
        not_before=(r"\b(?:accident(?:al)?ly) "),
    ),
    # --- goodbyes ----------------------------------------------------------------------------------------------------
    _phrase(
        "bye|farewell|my last|my final|suicide|by the time|see me |hear from me|be around|be alive|wont have|"
        "wont need|wont bother|leave this|leaving this|in heaven",
        rf"\bgood ?bye,? (?:cruel world|forever|for ever|world{_END}|to everyone)|\bthis is (?:my )?(?:final |"
        r"last )?(?:goodbye|farewell)(?! (?:party|tour|show|to (?:my|our|the)))|\bmy (?:last|final) (?:words|"
        r"goodbyes?|night alive|day alive|day on (?:earth|this (?:earth|planet)))|\b(?:suicide|goodbye|"
        r"farewell) (?:note|letter)s?\b(?!.{0,24}(?:colleague|coworker|team|boss|student|job|company))|"
        r"\bby the time you (?:read|see) this,? i(?:ll| will)?(?: be)? (?:gone|dead)|\byou (?:wont|will not|"
        r"will never|ll never) (?:see|hear from) me (?:again|ever again|any ?more)|\b(?:wont|not going to|"
        r"not gonna) be (?:around|alive) (?:much longer|any ?more|for (?:much )?long)|\bwont (?:have to|"
        r"need to) (?:worry about|deal with|put up with) me any ?more|\bwont (?:bother|be a problem for) (?:you|"
        r"anyone|anybody)(?: again| any ?more| much longer)|\b(?:want to|ready to|going to|gonna|wanna|about to|"
        r"time to|i have to|id like to) leave this (?:world|life|earth)|\bim leaving this (?:world|life|earth)|"
        r"\bjoin (?:him|her|them|my \w+) in heaven",
    ),
    # --- at the hands of others --------------------------------------------------------------------------------------
    _phrase(
        "kill",
        r"\b(?:please|pls|just|someone|somebody|god|lord|can you|could you|would you|want (?:you|someone|somebody|"
        r"god|him|them|it) to|hope (?:someone|something|a \w+)|wish (?:someone|somebody|something|"
        r"you) would)(?: please| just)? kil+ me\b|\bkil+ me (?:now|already|please|pls)\b|"
        rf"\b{_PEOPLE}(?: \w+){{0,2}} (?:tried|trying|threatened|threatening|threatens) to kil+ me\b",
        not_after=" (?:softly|with (?:kindness|laughter)|laughing)",
        not_before=(r"\b(?:will|would|ll|might|may|dont|gonna) "),
    ),
    _phrase(
        "raped|molested|assaulted|abused|beaten|choke|strangle|beats me|hits me|hit me|punch|kicked me|slap|"
        "beat me|hitting me|beating me",
        r"\b(?:i was|was i|ive been|i got|im being|being|almost|nearly|got)(?: \w+)? (?:raped|molested|"
        r"sexually (?:assaulted|abused)|beaten (?:up )?by (?:my|him|her)|abused by)\b|\b(?:raped|molested|choked|"
        rf"strangled) me\b|\b{_PEOPLE}(?: just| always| often| keeps| still| has| sometimes| started|"
        r" got drunk and)? (?:hits|hitting|beats|beating|punched|punches|kicked|slapped|slaps|hit|beat) me\b",
        not_after=(
            r" (?:at\b|in (?:chess|a\b|the\b|cards|tennis)|to (?:it|the)\b|by\b|up for|up (?:on|about)|"
            "with (?:the news|a (?:question|bill|text)|an?)|on (?:the (?:head with a (?:ball|pillow))|facebook)|"
            r"again at|that\b)"
        ),
        mention=True,
    ),
)
