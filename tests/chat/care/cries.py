"""Lines that are cries, and lines that only sound like one, in English and Chinese, both scripts.

The phrases were made by the first hundreds of them. Of 100 cries that were written afterwards they found 41 of 50
(English) and 43 of 50 (Chinese), and took 2 of 100 harmless lines for one (2026-11-21); of 160 that somebody else wrote
then, 123, and 10 of 121 harmless ones. All of these were learnt, too. Of 5,081 lines of other people's talk (LoCoMo,
MADial) they take none.
"""

CRIES_EN = """
I'm breaking down, please help me
I've been cutting again
I'm going to jump
would it hurt if I jumped off a bridge
my husband is going to kill me, he has a knife
I am standing on the bridge
I'm ending things tonight
tomorrow I won't exist
goodbye, this is my last message
I'm at the end of my rope
I can't keep doing this
I'm scared of what I might do to myself
I'm not safe right now
I swallowed 40 paracetamol
I took 30 sleeping pills
I want to die
i just want to die
I really, really don't want to be alive anymore
I wanna die so bad
I want to fucking die
I can't go on
I can’t go on like this.
I cannot go on anymore
I just can't keep going
I can't do this anymore
I can't take it anymore
I don't want to live anymore
I don't want to exist
i dont wanna be here anymore
I never want to wake up again
I hope I don't wake up tomorrow
I wish I could fall asleep and never wake up
I wish I was dead
I wish I were never born
I wish I could just disappear
I just want to disappear
I want to stop existing
I'm thinking about suicide
I've been having suicidal thoughts again
I feel suicidal
Suicide seems like the only option.
I'm going to kill myself
i might kill myself tonight
I want to end my life
I want to end it all
I'm ready to end it.
thinking of ending it all
I'm having a breakdown
I had a complete mental breakdown last night
I'm on the verge of a nervous breakdown
I think I'm having a nervous breakdown, help
everyone would be better off without me
they'd be happier without me
I'm such a burden to everyone
nobody would even notice if I died
would anyone care if I was gone?
Would you miss me if I died?
if i died tomorrow nobody would care
is it worth living?
Is life even worth living?
what's the point of living
What is the point of it all
I have no reason to live
there's nothing left to live for
I've lost the will to live
life isn't worth living
my life is pointless
I'm so tired of living
I'm tired of being alive
I hate being alive
I'm sick of being alive
I'm done with life
I've given up on life
kms
I'm gonna kms
might unalive myself lol
I self harm sometimes
I've started cutting myself again
I want to hurt myself
I keep thinking about hurting myself
I want to cut my wrists
I just took all the pills in the house
how many pills would it take to die
what's the easiest way to die
does it hurt to die?
I want to jump off a bridge
thinking about jumping in front of a train
I could just drive my car into a tree
I have a gun to my head right now
I bought a rope and tied a noose
goodbye cruel world
This is my goodbye. I'm sorry.
by the time you read this I'll be gone
you won't see me again after tonight
I've written my suicide note
please kill me
someone just kill me
just let me die
I deserve to die
I should just die
I'd be better off dead
Have you ever wanted to die?
do you ever think about dying
s u i c i d e
su1cide
su!cide
$uicide
5uicide
sui-cide
I want to d1e
i w a n t t o d i e
k!ll myself
k1ll mys3lf
k i l l  m y s e l f
Ｉ ｗａｎｔ ｔｏ ｄｉｅ
I want to di\u200be
su\u00adicide
I want to d*e
s**cide
I dont want to live in this world anymore
why should I keep going
why do I even want to die
I don't think I can make it through the night
I want the pain to stop
I'm not afraid of dying anymore
I'd rather be dead.
My brother killed himself and now I want to join him in heaven
he tried to kill me
My husband hits me
I was raped last night
I overdosed once and I want to again
My life is over
I feel so hopeless
I want to leave this world
I want to sleep forever
I watched a movie about suicide and now I want to kill myself too
told me to kys and maybe they are right
wish i could cease to exist
I can't live like this
I don't know how to go on
How do I go on without her?
honestly I'd rather not be alive right now
I don't see any reason to keep living
I feel like ending my life
been thinking about killing myself all week
there's no point in living anymore
I wish I'd never been born
what if I just died
I'm going to end my life tonight
no one would miss me if I was gone
my family would be better off if I died
I'm so suicidal today it scares me
I keep cutting myself and I can't stop
I want to overdose
I feel like jumping off the roof
I can't stop thinking about death
I just want everything to stop
I can't hold on much longer
I'm not strong enough to keep living
I don't deserve to live
I hope I die in my sleep
Some days I hope a car hits me
life is not worth it anymore
I have nothing to live for
I want out. I want to die.
is there any point in going on?
Why am I still alive
how would you feel if I killed myself
I'm planning to kill myself on my birthday
I already wrote the goodbye letters
please let me die
I took too many pills
I have the pills in my hand
I'm standing on the bridge and I want to jump
I don't want to be alive
wanna kms
i wanna unalive
k*ll myself
i want to k.i.l.l myself
suic1de
i need to die
nobody cares if i live or die
would it matter if I disappeared?
I think about suicide every day
had a mental breakdown at work today
I am breaking down, I can't go on
I can't cope anymore
I've been hurting myself again
I relapsed and self-harmed
the world would be better without me
I feel like a burden
I want to be dead
I'm tired of living like this
I can't keep living like this
I don't want to wake up tomorrow
I should have died in that crash
I'm giving up on life
death would be a relief
I'm scared I might hurt myself tonight
my ex threatened to kill me
my dad beats me every night
I don't think I want to live anymore
every night I pray I won't wake up
I've thought about taking my own life
there is no reason for me to go on
I can't see myself living past 30, I want to die
I might as well be dead
it hurts so much I want to die
I'd be happier dead
I feel like I should just end it
I'm one step away from killing myself
I'm scared I'll kill myself
suicidal again
I planned my suicide
I want to slit my wrists
I feel like cutting myself
thinking about hanging myself
I'm going to jump in front of the train tomorrow
swallowed a whole bottle of sleeping pills
I have a knife and I'm going to hurt myself
I'm so tired of being alive
I wish I didn't exist
nobody needs me, the world would go on without me
they would all be better off without me
no one will miss me when I'm gone
what is even the point of living
my life has no meaning
life is meaningless to me
I lost my will to live
I have no will to live left
I can't live with this pain anymore
I can't do life anymore
I don't know how much longer I can hold on
I don't want to be here anymore
I don't want to be on this planet anymore
I'm not going to be around much longer
you won't have to worry about me anymore
this is the last message you will get from me, goodbye forever
tell my mom I love her, goodbye world
I just want to go to sleep and never wake up
I want to vanish forever
if I killed myself, would you be sad?
do you think dying hurts
I had a nervous breakdown and I'm scared
I'm close to a breakdown
I'm having a mental breakdown rn
I'm falling apart and can't go on
gonna end it tonight
unaliving myself sounds good
sewerslide thoughts again
"""

CRIES_ZH = """
生无可恋
生無可戀
我站在天台上
我現在站在頂樓
我走了，你们保重
这是我最后一次跟你说话了
我爸每天打我
我恨自己，想弄死自己
我吃了三十片安眠药
妈妈对不起，我先走了
我不想繼續了
唔想活
我不想活了
不想活了
真的不想再活下去了
我不想这样活着
活不下去了
我真的活不下去了
我撑不住了
快撑不住了……
我撐不住了
我想自杀
我想自殺
最近总有自杀的念头
我崩溃了
我快要崩溃了
整个人都崩溃了
我在崩潰的邊緣
想死
我想死
好想死
我真的好想死啊
只想死
想死的心都有了
还不如死了算了
死了算了
死了就好了
一了百了
让我死吧
我是不是该死
活着好累
你觉得活着累吗？
你觉得活著累嗎
活着真没意思
活着没有意义
活着有什么意思
活着是为了什么
人为什么要活着
人活着到底有什么意义
我为什么要活着
为什么还要活下去
我该怎么活下去
没有活下去的理由
找不到活下去的意义
没有活着的勇气了
生不如死
活得好累
我活够了
想消失
好想消失
真想从这个世界上消失
想悄悄地消失
如果我消失了会有人发现吗
如果我死了你会难过吗
要是我不在了你会想我吗
我死了你会哭吗
没有我你们会更好
没有我大家都轻松
我就是个累赘
我是家里的负担
我不想拖累你们
世界有没有我都一样
不想醒来
不想再醒过来
睡着了就不要再醒了
希望明天不要来
一睡不醒就好了
想永远睡下去
我想结束自己的生命
想結束這一切
不如结束这一切
想离开这个世界
想解脱
只想解脱
我想跳楼
站在楼顶想跳下去
好想从桥上跳下去
我想割腕
我又割腕了
昨天我用刀划自己
我忍不住自残
又开始伤害自己了
吃多少片安眠药会死
我吃了一整瓶安眠药
怎么死才不痛苦
怎样才能死得不痛
死是什么感觉
死会疼吗
我写好了遗书
再见了，这个世界
永别了。
下辈子不想再做人了
你有没有想过自杀
你想过死吗
坚持不下去了
我坚持不下去了
熬不下去了
我好绝望
我对这个世界没有留恋了
受够了这个世界
自 杀
自.杀
自*杀
我 不 想 活 了
不\u200b想\u200b活
想自鲨
想紫砂
zisha
想zs
我想4
想亖
好想似啊
wo xiang si
buxianghuo le
人生重开算了
想死,真的
自殘
我想輕生
轻生的念头又来了
妈妈，我真的熬不住了
他家暴我，我不知道怎么办，被老公家暴
我被性侵了
是不是没有我世界会更好
我不该出生
我不配活着
看完那部电影我也想自杀
精神快崩溃了
每天都在崩溃
如果有一天我不在了
我真的不想活下去了
活着太累了
我觉得活着没什么意思
活着好痛苦
我每天都想死
有时候真想一死了之
我想结束生命
我想结束这一切了
想不开,想自杀
昨晚我差点自杀
我又有了轻生的念头
我控制不住想伤害自己
我在手腕上划了一刀
我想从楼上跳下去
真想从窗户跳下去
吞了一把安眠药
遗书已经写完了
撑不下去了，真的
我快撑不下去了
我感觉自己要崩溃了
情绪崩溃，一直哭
整晚都在崩溃边缘
我好想永远睡过去
如果能一睡不醒就好了
希望明天不要醒来
要是没有我，大家会不会过得更好
我活着就是个负担
我是不是很多余
没有人在乎我的死活
死了会不会轻松一点
人死了会去哪里，我想去看看
我想去死
我就想死
不如死了
想死又不敢死
没有勇气活下去
看不到活下去的希望
我找不到活着的理由
我不知道活着为了什么
为什么我还活着
活着有意思吗
活着到底图什么
我想人间蒸发
想从世界上消失
假如我死了，有人会难过吗
我要是死了你会想我吗
对不起，我先走了，下辈子再见
永别了，谢谢你们
我不該活著
我已經撐不下去了
活著好累好累
想輕生
自s的念头
自-杀
不想活惹
好想4一4
buxiang huo le
我不想活,真的不想
他又打我了，我好怕
我一点都不想活
我不想再活了，太累了
我没有力气活下去了
活着对我来说太痛苦了
每天醒来都想死
有时候觉得死了更好
我想一死了之
我真的想去死
我想自我了断
我最近一直在想自杀的事
我有自杀倾向
我试过自杀
我又想割腕了
手臂上全是我割的口子
我想从天台跳下去
我站在阳台上，想跳下去
我吃了一大把药
怎么死才能不痛苦
哪种死法不疼
要是我死了就好了
我死了也没人会难过
如果我不在了，你要好好的
没有我他们会过得更好
我是个多余的人
我只会拖累别人
我什么都不是，活着干嘛
活着真的没意义
人活着真累
活着的意义是什么
我看不到任何希望了
我对生活彻底绝望了
我快崩溃了，谁能帮帮我
我要崩溃了
心理崩溃了
我真的撑不下去了
我熬不住了
真的坚持不住了
好想一睡不醒
真希望再也不用醒来
真想就这样消失
我想消失在这个世界上
再见了，世界
给爸妈留了遗书
我想离开这个世界
想早点结束这一切
想自鲨了
不想活了啊啊啊
我想si
好想重开
"""

HARMLESS_EN = """
I'm breaking down the tasks for tomorrow
I've been cutting carbs
I'm standing on the bridge with a great view
I'm going to jump in the shower
This is my last message for today
He has a knife collection
I won't exist in that spreadsheet
I'm sitting on the edge of my seat
I can't take it any more seriously than you do
I want to die my hair blond
You're killing it today!
I'm killing it at work
this joke is killing me
my back is killing me
I'm dying of laughter
I'm dying to see you
dying to know what happened
I'm dead 😂
lol I'm dead
that pizza is to die for
old habits die hard
my phone is about to die
my phone died
the battery wants to die again
the plant is trying to die on me
I want to diet
I'm going to dye my hair
nervous breakdown of costs
here is the cost breakdown
can you give me a breakdown of the numbers?
my car had a breakdown on the highway
the breakdown in this song is sick
Breakdown cover for my car is expensive
I had a breakdown of the budget by noon
Suicide Squad was fun
have you seen Suicide Squad?
the 1960 Lincoln has suicide doors
that would be political suicide
career suicide, honestly
suicide bombers attacked the city, the news said
the article reported suicide rates in Japan
we are reading a novel in which the hero commits suicide
In the movie he commits suicide at the end
Romeo and Juliet ends in suicide
our school has a suicide prevention week
I can't go on vacation this year
I can't go on Friday, sorry
I can't go on the trip
I can't go on with the meeting today because of the dentist
the show can't go on without a singer
keep going, you can do it
I ran 5 kms today
how many kms is it from here
it is 20 kms away
I killed the process
kill the lights please
this workout will kill me
my mom is going to kill me if I'm late
he killed it on stage
I could kill for a coffee
I cut myself shaving
I cut myself a slice of cake
I cut myself while chopping onions
I accidentally cut myself
cut yourself some slack
I shot myself in the foot with that email
I drowned myself in chocolate
I hurt myself playing football
I'd die for my kids
I don't want to die
I don't want to live in the city
I don't want to live with my parents
I don't want to wake up early tomorrow
don't wake up the baby
I never want to wake up at 5 again
tired of living out of a suitcase
I'm tired of living in this apartment
sick of living next to a bar
I'm tired today
I'm so tired
I want to disappear to an island for a week
the cat vanished
the stain doesn't want to disappear
my socks just disappear
I jumped off the bus
we went bungee jumping off a bridge
I'm going to jump in the pool
if all your friends jumped off a bridge, would you?
I watched the trains from the bridge
I walked into the building
give me one reason to live there
my daughter is my reason to live
it makes life worth living
is it worth living in Berlin?
the trip was worth it
is it worth it?
what's the point of this meeting
this level is impossible, I died again
I died in the game three times
how do I die less in Elden Ring
how do I kill the boss
the last one to die wins the game
take my life to the next level
I took my life in a new direction
she took over my life insurance
end of story
I want to end this call
let's end it here with a song
goodbye, see you tomorrow
this is our goodbye party
a farewell letter to my colleagues, from the whole team
last night alive music was great
we said goodbye to our teacher
I'll sleep when I'm dead
dead tired
deadline is killing us
drop dead gorgeous
the dead sea is salty
over my dead body
it's a dead end
a matter of life and death
I overdosed on chocolate
an overdose of cuteness
wow, the bass drop kills
he hit me up on Facebook
the ball hit me
it hit me that I forgot the keys
he beat me at chess
it's a no-brainer
there is no way out of the maze
I took my vitamins and all my meds this morning
the printer committed suicide lol, printer suicide documentary
harm reduction policy in the news
you slay
I'm hanging out
hang in there
I'm burning up
stop hitting snooze
I'm broken, the ending of that show!
happy birthday
Can you tell me about Virginia Woolf's novel?
the company is bleeding money
This deadline makes me want to die of boredom
I feel alive
this song slaps, I'm deceased
you killed that presentation
that outfit is killer
I'm dying laughing
this heat is killing me
my feet are killing me
my laptop died again
the flowers died
time to kill before the train
curiosity killed the cat
it's a killer app
I'd kill for some pizza
don't kill my vibe
he's drop-dead gorgeous
the deadline is tomorrow
I'm dead serious
we beat them to death in chess
I'm bored to death
scared to death by that clown
worked to death this week
to die for! the best cake
I nearly died of embarrassment
the game is over, I lost all lives
my character died in the dungeon
he wants to live abroad
I don't want to live in Paris forever
I can't live without coffee
I can't go on Monday
I can't go on holiday in June
let's go on a walk
I can't keep going to that gym
do you want to keep going with the story?
tired of waking up early
tired of my job
I'm exhausted after the run
I never want to see that movie again
I want to disappear into a good book
my keys disappeared
breakdown of the monthly bills
break down the problem for me
the car broke down
the truck breakdown cost us hours
there was a breakdown in communication
a breakdown truck came
the suicide squeeze is a baseball play
the book deals with suicide in Victorian England
the news says suicide rates are falling
Hamlet thinks about suicide in the play
I cut my finger
I cut myself a piece of cheese
I burned myself on the stove
I hurt myself at the gym
I ended the call
end of my shift
he ended it with a joke
I want to end this chapter tonight
is it worth the price?
worth living there? the rent is high
what's the point of algebra
I have a reason to celebrate
jumping off the diving board
I jumped off my bike
she jumped in front of the camera
take two pills after dinner
I took the bus
goodbye for now
farewell party at six
kill two birds with one stone
I need to kill this bug in my code
kill the process with kill -9
the file got killed by the OOM killer
10 kms to go
live music tonight
I live near the sea
he hit a home run
she beat me to the store
this traffic is murder
I'm starving
I could eat a horse
the roof leaks
the bridge is closed
you crushed it, absolutely murdered that solo
I'm dying over here 😂😂
she's drop dead funny
dead battery again
this meeting is endless
can we kill the lights
the villain dies at the end
I died laughing at that meme
I'm dying for a burger
my plants are dying
that hike nearly killed me
it's killing time until lunch
he's a lady killer
I want to live in Spain
where do you live
I don't want to live there anymore, too loud
I can't wait to live with you
I can't go on the roller coaster
I can't keep going out every night
tired of cooking
I gave up on learning French
I gave up smoking
the concert was cancelled
I want to end the subscription
how do I end a process on Linux
is this book worth it
what's the point of the second chapter
I cut my hair myself
I cut the cake
I burnt the toast
jump on the train with us
we walked under the bridge
I stood on the balcony and watched the sea
take the pills twice a day
goodbye and thanks for the fish
see you on the other side of the street
expense breakdown attached
the elevator had a breakdown
here's the breakdown by region
the suicide doors on that Rolls are wild
Suicide Squad sequel tonight
a documentary about suicide bombers
I want to disappear for a weekend
the magician made a coin disappear
I wish I was on holiday
I wish I were taller
better off without that job
ran 12 kms before breakfast
do plants feel pain when they die
I hope the exam ends soon
"""

HARMLESS_ZH = """
我坐在天台吹风看星星
我走了，你们保重身体，下周见
上次是我最后一次跟他说话
我爸每天打我手机
我快撑不住了，太困了，先睡了
周末不想醒来，只想睡懒觉
笑死我了
累死了
饿死了
困死了
热死我了
冷死了
气死我了
烦死了
吓死我了
想死你了
我想死你啦
想死妈妈做的菜了
美死了
爱死这首歌了
忙死了
死党今天来看我
电脑死机了
截止日期要死人
死记硬背没用
程序崩溃了
电脑又崩溃了
我的手机突然崩溃
游戏一打开就崩溃
服务器昨天晚上崩溃了
软件崩溃率太高
崩溃日志发给我
股市崩溃
苏联崩溃以后
笑到崩溃
网站崩潰了
自杀小队好看吗
自殺突擊隊上映了
新闻里说有人自杀
新闻报道了一起自杀式袭击
小说里女主角自杀了
电影里他最后自杀了
《挪威的森林》里直子自杀了
我们在研究日本的自杀率
细胞自杀是一种保护机制
这是政治自杀
跳楼价大甩卖
跳樓價
别在一棵树上吊死
烧炭烤肉真香
割腕表带断了
手机电量撑不住了
手机快撑不住了，先去充电
困得撑不住了，先睡了
这把椅子撑不住你
吃撑了
没有空调我活不了
没有奶茶我活不下去
这家店活不下去了
我养的多肉活不了几天
不想活动
不想活在别人的眼光里
你是不是不想活了，敢偷吃我的零食
读完余华的《活着》
活着真好
好好活着
我要好好活下去
想消失几天去旅行
想让痘痘消失
希望这个bug消失
希望疫情早点消失
早上不想醒来上班
不想起床
别醒酒了
宝宝醒来就哭
把猫吵醒了
明天不要来那么早
如果我不在家你就放门口
我不在公司
要是我没了手机怎么办
我走了，明天见
我先走了
再见
再见了，明天聊
世界杯开始了
我想去世界各地看看
想离开这个城市
想离开这家公司
结束了一天的工作
结束单身生活
放弃减肥
比赛结束了
终于解脱了，考完了
减肥坚持不下去
跑步坚持不住了
扛不住这么热的天
诱惑太大扛不住
用刀划开包裹
不小心割到手了
划手机
划重点
在手机上划一下
洗洗睡吧
睡着了
一觉睡到天亮
吃了好多药感冒还没好
这个药一天吃几片
恐龙是怎么死的
这个boss怎么死
怎么死机了
鱼怎么死了
打死我也不说
打死都不去
宁愿死也不吃香菜
死不承认
死心了
死马当活马医
找死啊你
该死的蚊子
去死吧蚊子
紫砂壶很漂亮
zisha teapot
相思病
尴尬得想死
尴尬到想原地消失
社死现场
重开一局
想重开一局游戏
人生重开模拟器真好玩
绝望主妇很好看
国足真让人绝望
生死看淡
生活好累但是值得
上班好累
今天好累
爸爸打我电话
他打我手机
我妈打了我电话
遗嘱公证要多少钱
项目里我拖累了进度
自杀森林是部电影
剧本杀里凶手自尽了
爬山腿撑不住了
眼皮撑不住
一口气爬上楼顶看风景
笑死了哈哈哈
渴死了
忙死我了
无聊死了
痛死了，被蚊子咬了
开心死了
想死你们了
累死累活一天
要死要活的干嘛
今天热得要死
贵得要死
打死不承认
死鸭子嘴硬
死胡同
死贵死贵的
系统崩溃，重装了
浏览器老是崩溃
这个软件动不动就崩溃
游戏闪退崩溃
价格崩溃式下跌
罗马帝国崩溃的原因
我的电脑快撑不住了
书架撑不住这么多书
雨伞撑不住风
我撑着伞
饿得撑不住了，去吃饭
活动取消了
我不想参加活动
活到老学到老
活得精彩
鱼还活着
他还活着吗，那只猫
生活有意义
人生的意义是什么
这个角色死了好可惜
电视剧里他跳楼了
看了一部讲自杀的纪录片
听说那本小说结局是自杀
新闻说警方阻止了一起自杀
跳楼机好刺激
跳河边的石头玩
想消失在人海里去旅行几天
把这个文件彻底删除
消失的爱人好看
醒来就饿了
我不想醒酒
睡不醒怎么办
睡一觉就好了
结束会议
结束这段关系
想离开公司
离开这里去旅行
放弃治疗这个发型了
想放弃这个项目
解脱了！考试考完
吃药了，感冒好多了
买了一瓶维生素
刀划破了包装
割草机坏了
遗产怎么分
再见，周一见
坚持跑步好难坚持
扛着米上楼
我去世贸大厦
去死亡谷旅游
死海在哪里
死亡诗社是好电影
这个boss打死我三次
又死机了
手机没电了
我没了胃口
他不在家
我不在的时候帮我收快递
绝望坡好难爬
重开一把
累赘的文字要删掉
负担太重的包
世界真大
天堂电影院
笑到肚子疼死了
酸死了这个橘子
丑死了
想死那家火锅了
真想念你
死活不肯来
死皮赖脸
不作死就不会死
作死啊你
这题难死我了
今天班上得要死
活见鬼
活蹦乱跳的
活期存款
我活动一下筋骨
快活的一天
数据库崩溃了
app崩溃怎么办
微博又崩溃了
蓝屏崩溃
电池撑不住一天
绳子撑不住了要断
肚子撑得不行
我去超市了
我走了啊，拜拜
等我死了这条心吧
消失的地平线
奖品消失了
想消除疲劳
醒醒，到站了
我睡着了
别叫醒他
明天不想早起
结束了，回家
离开家三年了
毕业了，解脱了
他在小说里自杀了
新闻报道自杀人数下降
自杀小队2什么时候上映
跳楼大甩卖最后三天
在树上吊了一个秋千
烧炭取暖要开窗
割草
药吃完了，去医院再开
一整瓶维生素
绝望的主妇第几季
没希望赢了，这场比赛
世界末日电影
重开一家店
她是我的负担得起的快乐
"""


def lines(block: str) -> list[str]:
    """The lines of a block."""
    return [line for line in block.strip("\n").split("\n") if line]
