"""Files of people become rows, or are refused in words that say what to do."""

from __future__ import annotations

import pytest

from backend.batches.charset import GUESSED
from backend.batches.refusals import BatchRefused
from backend.batches.sheet import read_sheet


def table(text, encoding="utf-8"):
    return read_sheet(text.encode(encoding), "batch.csv")


def texts(sheet):
    return [row.cells["text"] for row in sheet.rows]


def refused(code):
    return pytest.raises(BatchRefused, check=lambda refusal: refusal.code == code)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_of_a_text_file_is_an_item_and_empty_ones_are_none(end):
    sheet = read_sheet(end.join(["One.", "", "   ", " Two. "]).encode(), "Lines.TXT")
    assert [(row.line, row.cells) for row in sheet.rows] == [
        (1, {"text": "One."}),
        (4, {"text": "Two."}),
    ]


def test_a_table_has_its_columns_by_name_in_any_order_and_case():
    sheet = table("Voice, TEXT ,speed\nanna,Good morning.,1.5\n,Good night.\n")
    assert [row.cells for row in sheet.rows] == [
        {"text": "Good morning.", "voice": "anna", "speed": "1.5"},
        {"text": "Good night.", "voice": "", "speed": ""},
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_separator_is_understood_whatever_the_texts_hold(delimiter):
    rows = [("name", "text"), ("a", '"One; two, three | four\tfive."'), ("b", '"Six, seven."')]
    sheet = table("\n".join(map(delimiter.join, rows)))
    assert texts(sheet) == ["One; two, three | four\tfive.", "Six, seven."]
    assert [row.cells["name"] for row in sheet.rows] == ["a", "b"]


def test_lines_are_counted_as_an_editor_counts_them():
    sheet = table('text,name\n\n"One\ntwo",a\n\nThree,b\n')
    assert [(row.line, row.cells["text"]) for row in sheet.rows] == [(3, "One\ntwo"), (6, "Three")]


def test_a_text_with_the_separator_in_it_is_named_and_the_others_are_read():
    sheet = table("name,text\na,Hello, world.\nb,Bye.\n,,,\n")
    assert [(row.line, bool(row.problem)) for row in sheet.rows] == [(2, True), (3, False)]
    assert "double quotes" in sheet.rows[0].problem


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_of_every_kind_is_read(encoding):
    sheet = table("text\nGrüße, 你好, привет.\n".replace(",", " "), encoding)
    assert texts(sheet) == ["Grüße  你好  привет."]
    assert sheet.notes == ()


@pytest.mark.parametrize(
    "text", ["Ça va très bien, merci.", "“Hello” – she said, it’s £5.", "Grüße aus Köln", "été"]
)
def test_windows_western_is_read_and_said_to_be_a_guess(text):
    sheet = read_sheet(text.encode("cp1252"), "lines.txt")
    assert texts(sheet) == [text]
    assert sheet.notes == (GUESSED,)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Привет, как дела?", "cp1251"), ("こんにちは。お元気ですか。", "shift_jis")],
)
def test_other_encodings_are_refused_and_never_read_as_nonsense(text, encoding):
    with refused("encoding_unknown"):
        read_sheet(text.encode(encoding), "lines.txt")


def test_columns_that_mean_nothing_here_are_named():
    sheet = table("text,file,seconds\nHello.,001.wav,2\n")
    assert sheet.notes == ("Columns that are not used: file, seconds.",)
    assert sheet.rows[0].cells == {"text": "Hello."}


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"Hello.", "lines.docx", "file_kind"),
        (b"PK\x03\x04\x00\x00", "table.csv", "not_text"),
        (b"words,voice\nHello.,anna\n", "table.csv", "text_column"),
        (b"text,text\nHello.,Hi.\n", "table.csv", "text_column"),
        (b"", "table.csv", "text_column"),
        (b'name,text\na,"Hello.\nb,Bye.\n', "table.csv", "csv_broken"),
        (b'name,text\na,"Hello" he said.\n', "table.csv", "csv_broken"),
        (b"text,name\n,\n", "table.csv", "batch_empty"),
        (b" \n\n", "lines.txt", "batch_empty"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(data, name, code):
    with refused(code):
        read_sheet(data, name)


def test_quotes_that_do_not_match_are_found_by_their_line():
    with pytest.raises(BatchRefused, match="Line 3: the double quotes here do not match"):
        table('name,text\na,Hello.\nb,"Hello" he said.\nc,Bye.\n')


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"text,{'a' * 140_000}\nHello.,\n", 1),
        (f"text,{'a ' * 70_000}\nHello.,\n", 1),
        (f"text;name\nHello.;a\n{'a ' * 70_000};b\n", 3),
    ],
)
def test_a_cell_without_end_is_told_as_what_it_is(text, line):
    words = f"Line {line}: a cell here has more than 131,072 characters"
    with pytest.raises(BatchRefused, match=words) as refusal:
        table(text)
    assert refusal.value.code == "cell_too_long"


def test_a_table_without_its_column_says_what_was_found():
    with pytest.raises(BatchRefused, match="It says: words;voice"):
        table("words;voice\nHello.;anna\n")
