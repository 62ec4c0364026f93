"""The words that the corpora are made of: our own lists, and pronounceable words made from syllables.

Refuses to know messages, sessions and files. Invariant: the same seed gives the same words in the same order, on every machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final

EVERYWHERE: Final = 6  # words meant for about 90 % of the messages; more cannot be: their sum would fill every message
OFTEN: Final = 30  # words meant for about 30 %
SOMETIMES: Final = 240  # words meant for about 2 %
VOCABULARY: Final = 200_000  # so that most words of a 100 000-message corpus occur in fewer than twenty messages

_WEIGHT_EVERYWHERE: Final = 0.07  # share of all tokens, each; a message of 60 words then holds it with 99 %, one of 20 with 77 %
_WEIGHT_OFTEN: Final = 0.0075  # 1 - (1 - w)^60 = 36 %, less in the other languages
_WEIGHT_SOMETIMES: Final = 0.00036  # 2 %


def _list(text: str) -> list[str]:
    return text.split()


_ONSETS: Final = _list("b c d f g h j k l m n p r s t v w z br ch cl dr fl gr pl pr sh sk st th tr")
_VOWELS: Final = _list("a e i o u ai ea io ou")
_CODAS: Final = ["", "", "", "n", "r", "s", "l", "t", "m", "nd", "rk", "st"]

# Common characters; words are made of two of them, as most Chinese words are.
HANZI: Final = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
    "十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相"
    "全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果"
    "料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则"
)
JAPANESE: Final = _list(
    "設定 会議 予定 確認 変更 移行 記録 検索 索引 履歴 返信 資料 保存 削除 更新 接続 計画 東京 大阪 電車 時刻表 船 港 天気 写真 料理 昼食 夕食 "
    "ユーザー サーバー データベース ファイル テスト エラー バックアップ メモリ コード レビュー スケジュール メッセージ ノート カレンダー "
    "お願いします ありがとう わかりました しました です ます から まで について という 今日 明日 昨日 来週"
)
VIETNAMESE: Final = _list(
    "lịch họp với nhóm sản phẩm đường đến Huế đã nhắc chúng ta cần chuyển dữ liệu sang máy chủ mới ngày mai buổi sáng chiều tối kiểm tra lại kết quả "
    "gửi tin nhắn cho khách hàng về việc thay đổi giá vé tàu bến cảng thời tiết mưa nắng bữa cơm gia đình học sinh bài viết sách truyện phần mềm "
    "lỗi sửa chữa lưu trữ tìm kiếm danh sách người dùng mật khẩu tài khoản đăng nhập cập nhật phiên bản tháng tuần năm trước sau khi nếu thì và hoặc "
    "không có được rồi đang sẽ vẫn chưa xong hết hỏi trả lời giúp đỡ cảm ơn"
)
THAI: Final = _list(
    "ฐานข้อมูล ประชุม วันนี้ พรุ่งนี้ เมื่อวาน ตารางเวลา เรือข้ามฟาก ย้าย ระบบ ผู้ใช้ ข้อความ ค้นหา บันทึก ลบ แก้ไข ตั้งค่า ทดสอบ ปัญหา คำตอบ คำถาม "
    "รถไฟ อาหาร ร้าน กาแฟ ฝน อากาศ ถนน บ้าน โรงเรียน หนังสือ เพลง ภาพ เครื่อง โปรแกรม เอกสาร รายงาน ลูกค้า ราคา ส่ง รับ ขอบคุณ ครับ ค่ะ และ หรือ ที่ จะ ได้ ไม่ มี"
)


def made_up(count: int, rng: random.Random, *, taken: set[str], syllables: tuple[int, int] = (2, 4)) -> list[str]:
    """``count`` distinct pronounceable words that are not in ``taken``, which grows by them."""
    made: list[str] = []
    while len(made) < count:
        size = rng.randint(*syllables)
        word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(size)) + rng.choice(_CODAS)
        if word not in taken:
            taken.add(word)
            made.append(word)
    return made


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words with the share of tokens that each takes. ``cumulative`` is what ``random.choices`` wants, computed once."""

    everywhere: list[str]
    often: list[str]
    sometimes: list[str]
    rest: list[str]
    words: list[str]
    cumulative: list[float]
    hanzi: list[str]
    hanzi_cumulative: list[float]

    @classmethod
    @cache
    def of(cls, seed: int) -> Vocabulary:
        """The vocabulary of a seed, made once a process; nobody changes it."""
        rng = random.Random(f"words {seed}")
        taken: set[str] = set()
        everywhere = made_up(EVERYWHERE, rng, taken=taken, syllables=(2, 2))
        often = made_up(OFTEN, rng, taken=taken, syllables=(2, 3))
        sometimes = made_up(SOMETIMES, rng, taken=taken)
        rest = made_up(VOCABULARY, rng, taken=taken)
        left = 1 - EVERYWHERE * _WEIGHT_EVERYWHERE - OFTEN * _WEIGHT_OFTEN - SOMETIMES * _WEIGHT_SOMETIMES
        harmonic = sum(1 / (rank + 200) for rank in range(VOCABULARY))  # + 200: Mandelbrot's shift, below the listed bands
        weights = [_WEIGHT_EVERYWHERE] * EVERYWHERE + [_WEIGHT_OFTEN] * OFTEN + [_WEIGHT_SOMETIMES] * SOMETIMES
        weights += [left / (harmonic * (rank + 200)) for rank in range(VOCABULARY)]
        characters = sorted(set(HANZI))
        pairs = list({rng.choice(characters) + rng.choice(characters): None for _ in range(6000)})
        return cls(
            everywhere=everywhere,
            often=often,
            sometimes=sometimes,
            rest=rest,
            words=everywhere + often + sometimes + rest,
            cumulative=list(accumulate(weights)),
            hanzi=pairs,
            hanzi_cumulative=list(accumulate(1 / (rank + 5) for rank in range(len(pairs)))),
        )

    def pick(self, rng: random.Random, count: int) -> list[str]:
        """``count`` words, as often as their shares say."""
        return rng.choices(self.words, cum_weights=self.cumulative, k=count)
