"""Bytes to text: encodings, binary or not, line ends."""

from __future__ import annotations

import codecs
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.decoding import decode

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@given(text=TEXTS)
def test_a_byte_order_mark_decides(mark: bytes, encoding: str, text: str) -> None:
    assert decode(mark + text.encode(encoding)) == reference_lines(text)


def reference_lines(text: str) -> str:
    return re.sub("\r\n|\r", "\n", text)


@given(st.lists(st.sampled_from(["a", "é", "漢", " ", "\n", "\r", "\r\n", "\f", "\x0b", "\u2028", "\u2029", "\x85"])))
def test_only_lf_cr_and_crlf_end_lines(pieces: list[str]) -> None:
    text = "".join(pieces)
    decoded = decode(b"start " + text.encode())
    assert decoded == "start " + reference_lines(text)
    assert decoded.count("\n") == len(re.findall("\r\n|\r|\n", text))


@given(st.binary())
def test_any_bytes_are_text_or_binary(raw: bytes) -> None:
    reason = SkipReason.BINARY
    try:
        decode(raw).encode()
    except NotExtractedError as refused:
        reason = refused.reason
    assert reason is SkipReason.BINARY


SHORT_TEXTS = {
    "cp1252": [
        "Größe und Maße prüfen",
        "é",
        "naïve café",
        "señor y señora, mañana por la mañana",
        "ça va très bien, déjà vu à la fête",
        "# Änderung: Übergröße korrigieren\nx = 1\n",
        "São Paulo, não há problema, coração",
        "Smørrebrød på Ærø, blåbær",
        "Åsa köpte en öl på måndag",
        "Þetta er íslenska, það er gott",
        "perché così è la città più bella",
        "Preis: 5 £ © Müller",
        "résumé",
        "Müller",
        "El Niño",
        "Zürich",
        "// Température en °C\n",
        "Gödel, Escher, Bach",
        "français",
        "vuonna hän söi äyriäisiä",
        "© 2004 Jürgen Höller. All rights reserved.\n",
        "Author: José Valim\n",
        "* @author Rémi Forax\n",
        "“quoted” – dash … €",
        "it’s",
        "coöperate",
        "fiancée",
        "it doesn’t work – “really”",
        "don’t",
        "Rock ’n’ roll",
        "naïf",
        "São",
        "L’élève",
        "§ 5 Abs. 2",
        "½ cup",
        "¿Qué?",
        "«Bonjour»",
        "é\n",
        "Copyright ® 2001 Foo™",
        "• item one\n• item two\n",
        "price: 5€",
        "Björk Guðmundsdóttir",
        "café, crème brûlée; über-cool",
        "x = 'ä'\n",
        "Größe",
        "für",
        "über",
        "öffnen",
        "garçon",
        "niño",
        "año",
        "à",
        "ü",
        "ß",
        "Éric",
        "Noël",
        "Côte d'Ivoire",
        "Hélène et François",
        "Straße 5, 80331 München",
        "Überprüfung",
        "// réinitialise le compteur\n",
        "/* Fehler beim Öffnen */\n",
        "Ångström",
        "Tschüß, schöne Grüße aus Köln",
        "ñandú, pingüino y cigüeña",
        "l'été à l'hôtel, où êtes-vous?",
        "Olá, você está aí? Até amanhã, às três.",
        "def f():\n    # Größe prüfen und Änderung zurückgeben\n",
        "año, señor, mañana\n",
        "x = 1  # é\n",
    ],
    "cp1250": [
        "Příliš žluťoučký kůň úpěl ďábelské ódy",
        "Zażółć gęślą jaźń",
        "Dzień dobry, jak się masz? Proszę bardzo.",
        "Árvíztűrő tükörfúrógép",
        "Dobrý den, jak se máte?",
        "Český jazyk je krásný, děkuji",
        "Łódź i Kraków są piękne miasta",
        "Žluťoučký",
        "Čeština",
        "Šárka měla štěstí",
        "Bună ziua, ce mai faceţi? Mulţumesc",
        "Ďakujem, už viem čo chcem",
        "Szükség van őrökre és tűzoltókra",
        "zmień ścieżkę do pliku konfiguracyjnego",
        "// nastavení souboru, výchozí hodnota\n",
    ],
    "iso8859_2": [
        "Příliš žluťoučký kůň úpěl ďábelské ódy",
        "Zażółć gęślą jaźń",
        "Dzień dobry, jak się masz? Proszę bardzo.",
        "Łódź i Kraków są piękne miasta",
        "zmień ścieżkę do pliku konfiguracyjnego",
    ],
    "cp1251": [
        "Привет, мир!",
        "Это простой текст на русском языке.",
        "настройки",
        "Проверка файла конфигурации перед запуском",
        "Здравей, свят",
        "Україна, її мова",
        "Файл не найден: config.txt",
        "// счётчик строк\nint n;",
        "ошибка",
    ],
    "koi8_r": [
        "Привет, мир!",
        "Это простой текст на русском языке. Ещё немного слов.",
        "настройки",
        "Файл не найден: config.txt",
        "ошибка чтения",
    ],
    "cp866": [
        "Привет, мир! Это текст из DOS.",
        "Файл не найден: config.txt",
        "Нажмите любую клавишу для продолжения",
    ],
    "cp1253": [
        "Καλημέρα κόσμε",
        "αυτό είναι ένα κείμενο",
        "Ελληνικά και αγγλικά: file.txt",
    ],
    "cp1254": [
        "Günaydın, nasılsınız? Çok teşekkür ederim",
        "Dosya bulunamadı, lütfen değiştirin",
    ],
    "cp1255": [
        "שלום עולם",
    ],
    "cp1256": [
        "مرحبا بالعالم",
        "هذا نص بسيط باللغة العربية",
    ],
    "cp1257": [
        "Ąžuolas, ėjo šėšėlis, žąsis",
    ],
    "tis_620": [
        "สวัสดีชาวโลก",
        "นี่คือข้อความภาษาไทย",
    ],
    "gb18030": [
        "你好，世界",
        "配置文件说明",
        "# 读取数据库连接\nkey=value\n",
        "测试",
        "int main() { // 主函数入口\n",
    ],
    "big5": [
        "你好，世界。這是一個測試",
        "設定檔案說明與使用方式",
        "// 讀取資料庫連線設定\n",
        "你好，世界。這是一個簡單的中文檔案，用於測試編碼偵測。\n",
    ],
    "cp932": [
        "こんにちは世界",
        "設定ファイルを読み込む",
        "// 初期化処理\nint x;",
        "テスト",
        "ｶﾀｶﾅ と 漢字",
        "// 設定ファイルを読み込む\nint x;\n",
    ],
    "euc_jp": [
        "こんにちは世界",
        "設定ファイルを読み込む",
        "テストです。日本語のテキスト",
        "# 初期化処理を行う関数",
        "こんにちは世界。これは日本語のテキストファイルです。\n",
    ],
    "cp949": [
        "안녕하세요 세계",
        "설정 파일을 읽는다",
        "// 초기화 함수\n",
        "이것은 한국어 텍스트 파일입니다.",
        "안녕하세요 세계. 이것은 한국어 텍스트 파일입니다.\n",
    ],
    "cp437": [
        "Größe und Maße prüfen, schöne Grüße aus Köln",
    ],
    "cp850": [
        "Größe und Maße prüfen, schöne Grüße aus Köln",
    ],
}
"""What people write, down to a word, in the encodings that they still keep it in."""


@pytest.mark.parametrize(("encoding", "text"), [(e, text) for e, texts in SHORT_TEXTS.items() for text in texts])
def test_legacy_encodings_are_detected(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


@given(st.text(st.sampled_from("äöüßéèêçñåøæ"), min_size=1, max_size=1), st.text("abcdefg ", max_size=30))
def test_one_western_letter_in_plain_text_is_that_letter(letter: str, text: str) -> None:
    assert decode(f"{text}a{letter}\n".encode("cp1252")) == f"{text}a{letter}\n"


def test_utf8_with_a_broken_place_stays_utf8() -> None:
    raw = "Größe und Maße, naïve Ideen".encode()
    assert decode(raw[:-1] + b"\xff\n") == "Größe und Maße, naïve Idee\ufffd\n"
    assert decode("漢字かな".encode()[:-1]) == "漢字か\ufffd"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x7fELF\x02\x01\x01\0\0\0",
        b"text before" + b"\0",
        "utf-16 without a mark".encode("utf-16-le"),
        bytes(range(1, 32)) * 4,
        codecs.BOM_UTF16_LE + b"\x12\x34\0\0\x56\x78",
    ],
)
def test_binary_by_content(raw: bytes) -> None:
    with pytest.raises(NotExtractedError) as caught:
        decode(raw)
    assert caught.value.reason is SkipReason.BINARY


@pytest.mark.parametrize(
    "raw",
    [
        b"plain",
        b"page one\n\x0cpage two\n",
        b"\x1b[31mred\x1b[0m and \x08overstruck",
        b"x" * 8_000 + b"\0",
        b"a\x01" + b"b" * 40,
    ],
)
def test_text_with_a_few_odd_bytes_is_text(raw: bytes) -> None:
    assert decode(raw) == raw.decode()


def test_detection_is_bounded_on_a_large_file() -> None:
    raw = b"x = 1\n" * 60_000 + "# Größe prüfen und Änderung\n".encode("cp1252") * 5_000
    decode("é und ä\n".encode("cp1252"))
    started = time.process_time()
    assert decode(raw).endswith("# Größe prüfen und Änderung\n")
    assert time.process_time() - started < 0.5
