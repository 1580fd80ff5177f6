"""The characters in which our lists of Chinese words are written, for lines that are written in the traditional ones.

Only those that the lists hold (`chat.care`, `memory.signals`, `memory.forget_requests`, `memory.consolidation.gate`);
a whole conversion would need a dictionary, for one simplified character often stands for several traditional ones.
"""

TRADITIONAL = (
    "記請幫別這個會嗎對還麼謝們來說話點條內幾過剛務應該後讓給許護喲囉樣難簡單輕結沒殘殺潰離禮撐總業號東時為嘍無義書遺"
    "藥農燒軌臥樓橋傷劃斷夠膩覺壓負擔開見夢絕發頭鯊電腦機軟體統遊戲劇聞報導網團隊組織戰爭歷視頻節論學強騙傳媽從將與於"
    "間題處麵飯餓熱凍煩氣嚇凱樂愛歡場價廣設備庫數據資產線鏈構車師親聽寫詞畫動歲圖眾靈墜遠幹嘆淚滅斃蘇賴狀樹帶寬錢員癱"
    "瘓雙邊緣證實著擊戀頂懸鐵欄臺繼續現"
)
SIMPLIFIED = (
    "记请帮别这个会吗对还么谢们来说话点条内几过刚务应该后让给许护哟啰样难简单轻结没残杀溃离礼撑总业号东时为喽无义书遗"
    "药农烧轨卧楼桥伤划断够腻觉压负担开见梦绝发头鲨电脑机软体统游戏剧闻报导网团队组织战争历视频节论学强骗传妈从将与于"
    "间题处面饭饿热冻烦气吓凯乐爱欢场价广设备库数据资产线链构车师亲听写词画动岁图众灵坠远干叹泪灭毙苏赖状树带宽钱员瘫"
    "痪双边缘证实着击恋顶悬铁栏台继续现"
)
_TABLE = str.maketrans(TRADITIONAL, SIMPLIFIED)


def simplified(text: str) -> str:
    """`text` with every such character replaced, at its place: the places of words stay what they are.

    >>> simplified("請記住我說的")
    '请记住我说的'
    """
    return text.translate(_TABLE)
