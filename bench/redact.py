"""How fast is redaction: milliseconds for a thousand characters of clean, secret-dense and hostile text (target: at most .1).

Texts are 200 000 characters each. The time is the processor's own, the best of some rounds: redaction waits for nobody. There is no baseline;
``ratio`` is target over time, so that a figure below 1 misses the target.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

from bench.common import ROOT, Report
from wesaid.rules import redact

SIZE: Final = 200_000
TARGET: Final = 0.1  # milliseconds for a thousand characters
KEY: Final = "AbCd3fGh1jKlMn0pQrStUvWxYz"
CLEAN: Final = {
    "English": "We moved the ferry timetable to Postgres last night, and the token bucket needs a password reset; see the secret of good planning. ",
    "Vietnamese": "Chúng tôi đã chuyển lịch phà sang Postgres tối qua, và mọi người đều hài lòng; mật khẩu đổi lúc 9 giờ. ",
    "Chinese": "我们昨晚把渡轮时刻表迁移到了Postgres，大家都很满意。密码已经改了，请查看文档。",
    "hexadecimal": "3f786850e387550fdab836ed7e6dc881de23001b ",
    "colours": "\x1b[32mok\x1b[0m 12 passed in 0.3 s\n",
}
DENSE: Final = {
    "an .env file": f"# what the ferry needs\nFERRY_TOKEN={KEY}\nDB_PASSWORD=tide{KEY}\nHOST=db.example\n",
    "keys in a row": f"ghp_{KEY}0123456789 ",
    "assignments in a row": "password=abcdef ",
    "lines of a letter": "a\n",
    "lines of a word": "the boat\n",
    "beginnings": "sk-\nAbCd1234",
    "sentences with passwords": "the password for staging is t1de!table and we moved on; ",
}
HOSTILE: Final = ("A", "a.", "sk-", "eyJ_", "= ", '"', "\n", "://a:", "password=", 'password="', "token=password=secret=", "-----BEGIN RSA PRIVATE KEY-----\n",
                  "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA\n", "a\u200b", "%41", "%", "\x1b[", "\\u0041", "ABCDEF0123456789\n", "cookie: a=b ", "password is ",
                  "seed phrase is tide ", "mnemonic tide ferry ", "curl -u a:bcdefg ", "?key=a1", "login a password ", "_KEY=", "api_key: ", "[redacted:x]a")  # fmt: skip


def measure(text: str, rounds: int) -> float:
    """Milliseconds of the processor for a thousand characters, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time_ns()
        redact.redact(text)
        best = min(best, time.process_time_ns() - begin)
    return best / 1e6 / len(text) * 1000


def texts() -> dict[str, str]:
    """Every text by its name."""
    code = (ROOT / "src" / "wesaid" / "rules" / "branch.py").read_text(encoding="utf-8")
    groups = {"clean": CLEAN | {"code": code}, "dense": DENSE, "hostile": {repr(unit)[1:-1]: unit for unit in HOSTILE}}
    return {f"{group} · {name}": (unit * (SIZE // len(unit) + 1))[:SIZE] for group, units in groups.items() for name, unit in units.items()}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round each")
    rounds = 1 if parser.parse_args().quick else 5
    report = Report("redact")
    for name, text in texts().items():
        took = measure(text, rounds)
        report.add(name, took, "ms/KB", ratio=TARGET / took)
    report.close()


if __name__ == "__main__":
    main()
