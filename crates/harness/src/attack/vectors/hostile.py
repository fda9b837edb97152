"""Files that harm who reads them, written into the folder that is named: bombs, files without an end, broken and locked ones,
and some whose type lies."""

import pathlib
import sys
import zipfile
import zlib

folder = pathlib.Path(sys.argv[1])
ROOM = int(sys.argv[2])

TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
WORD = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'


def word(name, paragraphs):
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", TYPES)
        made.writestr("_rels/.rels", RELATIONS)
        with made.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(WORD.encode())
            for paragraph in paragraphs:
                part.write(paragraph)
            part.write(b"</w:body></w:document>")


def pdf(name, objects, trailer=b""):
    text, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    begin = len(text)
    text += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    text += b"".join(b"%010d 00000 n \n" % place for place in places)
    text += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, begin)
    (folder / name).write_bytes(text)


def stream(data, more=b""):
    return b"<< /Length %d %s >>\nstream\n" % (len(data), more) + data + b"\nendstream"


# As much as fits in a good deal less than what is let in, and a hundred times as much once it is read.
million = b"<w:p><w:r><w:t>" + b"a" * 1_000_000 + b"</w:t></w:r></w:p>"
word("bomb.docx", (million for _ in range(ROOM)))
word("good.docx", [b"<w:p><w:r><w:t>The heddle lifts every second thread of the warp.</w:t></w:r></w:p>"])
whole = (folder / "good.docx").read_bytes()
(folder / "truncated.docx").write_bytes(whole[: len(whole) // 2])
# An encrypted office file is a compound file, not an archive.
(folder / "encrypted.docx").write_bytes(
    bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 504 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 2048
)

page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
text = stream(b"BT /F 12 Tf 72 720 Td (The heddle lifts the warp.) Tj ET")
catalogue = b"<< /Type /Catalog /Pages 2 0 R >>"
pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
pdf("good.pdf", [catalogue, pages, page, text, font])
whole = (folder / "good.pdf").read_bytes()
(folder / "truncated.pdf").write_bytes(whole[: len(whole) // 3])
pdf(
    "encrypted.pdf",
    [
        catalogue,
        pages,
        page,
        text,
        font,
        b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>",
    ],
    b"/Encrypt 6 0 R /ID [<" + b"43" * 16 + b"> <" + b"43" * 16 + b">]",
)
# A tree of pages that leads back to itself, and one that says it has no end.
pdf("endless.pdf", [catalogue, b"<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 2000000000 /Parent 2 0 R >>", page, text, font])
squeezed = zlib.compress(b"BT (a) Tj ET\n" * (ROOM * 70_000), 9)
pdf("bomb.pdf", [catalogue, pages, page, stream(squeezed, b"/Filter /FlateDecode"), font])

(folder / "picture.pdf").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 4096)
(folder / "program.txt").write_bytes(b"\x7fELF" + bytes(range(256)) * 16)
(folder / "archive.docx").write_bytes(b"Rar!\x1a\x07\x00" + b"\0" * 4096)
(folder / "empty.pdf").write_bytes(b"")
