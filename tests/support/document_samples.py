"""Documents of every format, made by the libraries that write them."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from typing import Any

import xlsxwriter
from docx import Document as Word
from fpdf import FPDF
from fpdf.enums import AccessPermission
from pptx import Presentation
from pptx.util import Inches

PARAGRAPH = "Tokens are refreshed before they expire, and a refused refresh signs the user out of all devices."


def pdf(pages: int = 3, *, paragraphs: int = 2, password: str = "") -> bytes:
    """A chapter a page: a title in large type, and paragraphs."""
    book = FPDF()
    if password:
        book.set_encryption(owner_password=password, user_password=password, permissions=AccessPermission.none())
    for number in range(1, pages + 1):
        book.add_page()
        book.set_font("Helvetica", size=20)
        book.cell(0, 12, f"Chapter {number}", new_x="LMARGIN", new_y="NEXT")
        book.set_font("Helvetica", size=11)
        for part in ("First", "Second", *["Next"] * (paragraphs - 2)):
            book.multi_cell(0, 5, f"{part} paragraph of page {number}. {PARAGRAPH} {PARAGRAPH}")
            book.ln(4)
    return bytes(book.output())


def outlined() -> bytes:
    """Sections in the outline, whose titles are printed with numbers in type of the text's size."""
    book = FPDF()
    book.set_font("Helvetica", size=11)
    for number, (title, level) in enumerate((("Refreshing", 0), ("Errors", 1), ("Signing out", 0)), start=1):
        book.add_page()
        book.start_section(title, level)
        book.cell(0, 8, f"{number}. {title}", new_x="LMARGIN", new_y="NEXT")
        book.multi_cell(0, 5, PARAGRAPH)
    return bytes(book.output())


def two_columns() -> bytes:
    """One page whose left column goes on in the right one."""
    page = FPDF()
    page.add_page()
    page.set_font("Helvetica", size=11)
    with page.text_columns(ncols=2, gutter=10) as columns:
        columns.write("\n".join(f"sentence number {n} of a text in two columns" for n in range(140)))
    return bytes(page.output())


def scan() -> bytes:
    """Two pages with a drawing and no text."""
    book = FPDF()
    for _ in range(2):
        book.add_page()
        book.rect(20, 20, 100, 100)
    return bytes(book.output())


def word() -> bytes:
    """Title, headings, nested list, a table with a pipe in a cell, and a paragraph after it."""
    document = Word()
    document.add_heading("Session handbook", 0)
    document.add_heading("Refreshing", 1)
    document.add_paragraph(PARAGRAPH)
    document.add_heading("Errors", 2)
    for item in ("expired token", "revoked token"):
        document.add_paragraph(item, style="List Bullet")
    table = document.add_table(3, 2)
    for row, cells in enumerate((("Code", "Meaning"), ("401", "expired | revoked"), ("403", "not allowed"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_paragraph("The last words.")
    return saved(document)


def with_footnote() -> bytes:
    """A Word document whose only paragraph has a footnote."""
    footnotes = (
        '<?xml version="1.0"?><w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:footnote w:id="2"><w:p><w:r><w:t>Said in the margin.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    body = (
        '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:body><w:p><w:r><w:t>Said in the text.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p></w:body>'
        "</w:document>"
    )
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}.document.main+xml"/>'
            f'<Override PartName="/word/footnotes.xml" ContentType="{main}.footnotes+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": body,
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/footnotes" Target="footnotes.xml"/></Relationships>',
            "word/footnotes.xml": footnotes,
        }
    )


def slides() -> bytes:
    """Two slides: bullets and notes; a table."""
    show = Presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text = "Plan"
    body = first.placeholders[1].text_frame
    body.text = "measure first"
    inner = body.add_paragraph()
    inner.text, inner.level = "then change", 1
    first.notes_slide.notes_text_frame.text = "Mention the outage."
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Costs"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table
    for row, cells in enumerate((("Part", "Price"), ("Disk", "12"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    return saved(show)


def sheets(rows: int = 2) -> bytes:
    """Two sheets: one with an offset table of dates and numbers, one empty."""
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet("Prices 2026")
        sheet.write_row(2, 1, ["Item", "Price", "Remark"])
        for row in range(rows):
            sheet.write_row(3 + row, 1, [f"Bolt M{row}", 2.5 + row, "made of steel | zinc"])
        book.add_worksheet("Empty")
    return stream.getvalue()


def book() -> bytes:
    """An EPUB of two chapters, listed in another order than they are read in."""
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title></metadata><manifest>'
            '<item id="two" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="css" href="style.css" media-type="text/css"/></manifest>'
            '<spine><itemref idref="one"/><itemref idref="two"/></spine></package>',
            "OPS/text/one.xhtml": "<html><body><h2>Beginning</h2><p>It began.</p></body></html>",
            "OPS/text/two b.xhtml": "<html><body><h2>End</h2><p>It ended.</p></body></html>",
        }
    )


def mail() -> bytes:
    """A message with a text and an HTML body, an attached message, and an attached file."""
    inner = EmailMessage()
    inner["Subject"] = "The first report"
    inner.set_content("Something broke.\n")
    message = EmailMessage()
    message["From"] = "Ann <ann@example.org>"
    message["To"] = "Bob <bob@example.org>"
    message["Subject"] = "Re: Größe des Ausfalls"
    message["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
    message.set_content("It is mended.\nSee below.\n")
    message.add_alternative("<p>It is <b>mended</b>.</p>", subtype="html")
    message.add_attachment(inner)
    message.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="log.pdf")
    return bytes(message)


PAGE = b"""<!DOCTYPE html>
<html><head><title>Handbook</title><style>p { color: red }</style></head>
<body><nav>Home | About</nav><script>var x = "hidden words";</script>
<h2>Install <em>it</em></h2><p>Read <a href="/x">snake_case_name</a> &amp; go.</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<table><tr><th>Key</th><th>Value</th></tr><tr><td>port</td><td>80 | 443</td></tr></table>
<pre><code>x = 1
  y = 2</code></pre><!-- a remark --></body></html>
"""


def saved(document: Any) -> bytes:
    """What ``document.save`` writes."""
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A zip file of these members, compressed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members.items():
            package.writestr(name, content)
    return stream.getvalue()
