"""Names in Chinese and Japanese by their characters: surnames, places, organisations, katakana, honorifics."""

from __future__ import annotations

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import words

_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石"
    "廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤張劉陳楊黃趙吳孫馬鄭謝許韓馮鄧蕭葉蘇呂盧鍾譚陸"
)
# What comes before and after a name in running text.
_BEFORE = "(?:^|[和跟与與同给給找问問见見请請叫是由对對，。、]|联系|聯繫|打电话给|告诉|通知)"
_AFTER = "(?=[在住去来來说說的是和跟与與给給有要会會不从從到负搬喜也已]|开会|$)"
_PERSON = compiled(f"{_BEFORE}([{_SURNAMES}][\\u4e00-\\u9fff]{{1,2}}?){_AFTER}")
_TITLED = compiled(r"([\u4e00-\u9fff]{1,3}|[\u30a0-\u30ff]{2,8})(?=さん|くん|ちゃん|先生|様|老师|小姐|经理)")
_PLACE = compiled(
    r"北京|上海|广州|深圳|成都|杭州|南京|武汉|西安|重庆|天津|苏州|香港|台北|澳门|东京|東京|大阪|京都|横浜|名古屋|神戸|札幌|福岡|"
    r"(?<=[住在去到从於于])[\u4e00-\u9fff]{2,3}?(?=[市县省区])"
)
_ORGANISATION = compiled(
    r"(?<=[在于給给去到])([\u4e00-\u9fff]{2,8}?(?:公司|物流|银行|大学|医院|学校|集团|科技|餐厅|酒店|工厂|中心))"
)
_KATAKANA = compiled(r"[\u30a1-\u30fa\u30fc]{4,}")
# Loan words of the office and the house, which katakana writes as well.
_LOANS = words(
    """
    スキャナー プリンター サーバー パソコン メール ミーティング
    プロジェクト レストラン コーヒー データ システム スケジュール
    """
)


def han_names(text: str) -> list[str]:
    """Find names in a run of Chinese or Japanese.

    Examples
    --------
    >>> han_names("和刘洋开会"), han_names("王芳在远帆物流工作"), han_names("森さんからメール")
    (['刘洋'], ['王芳', '远帆物流'], ['森さん'])
    """
    found = [match[1] for match in _PERSON.finditer(text[:10_000])]
    found += [match[1] for match in _ORGANISATION.finditer(text[:10_000])]
    found += [match[0] for match in _PLACE.finditer(text[:10_000])]
    for match in _TITLED.finditer(text[:10_000]):
        suffix = next(
            end
            for end in ("さん", "くん", "ちゃん", "先生", "様", "老师", "小姐", "经理")
            if text.startswith(end, match.end())
        )
        found.append(match[1] + suffix)
    found += [word for word in _KATAKANA.findall(text[:10_000]) if word not in _LOANS]
    return list(dict.fromkeys(found))
