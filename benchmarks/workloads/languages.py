"""Grammars of languages: small ones, query and markup subsets, a tool call; and texts of each."""

from pathlib import Path

from samples import code_document, json_document

from .request import Request

_HERE = Path(__file__).parent
_EXAMPLES = _HERE.parents[1] / "examples"

_SQL_TEXTS = (
    "SELECT DISTINCT c.name, COUNT(*) AS orders FROM customers AS c LEFT JOIN orders ON "
    "orders.customer = c.id WHERE c.city = 'Bern' AND (orders.total > 100 OR c.state IS NOT NULL)\n"
    "GROUP BY c.name HAVING COUNT(*) > 3 ORDER BY orders DESC LIMIT 20;",
    "UPDATE items SET price = price * 1.1, state = 'new' WHERE id IN (SELECT item FROM "
    "old_items) AND name LIKE '%it''s%';",
)

_XML_TEXTS = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<library>\n  <book id="b1" lang=\'en\'>\n'
    "    <title>Automata &amp; Languages</title>\n    <!-- second edition -->\n"
    "    <year>1979</year><empty/>\n    <note><![CDATA[a < b]]></note>\n  </book>\n</library>\n",
)

_TOOL_TEXTS = (
    "<thinking>The user asks for two things at once.</thinking>\n<tool_call>\n"
    '{"name": "get_weather", "arguments": {"city": "Zürich", "unit": "celsius", "days": 3}}\n'
    '</tool_call>\n<tool_call>\n{"name": "search", "arguments": {"query": "train to Chur", '
    '"limit": 5, "filters": {"class": 2, "direct": true}}}\n</tool_call>\n',
)

_C = (
    "int main(int argc){int total = 0;// sum of squares\nint i = 0;"
    "for(i = 0; i<argc; i = i+1){total = total+i*i;}"
    "while(total>10){print (total, -2);}return f(total);}"
)
_CHESS = "1. e4 e5\n2. Nf3 Nc6\n3. Bb5 a6\n4. Bxc6 dxc6\n5. O-O f6\n6. d4 exd4\n"
_ENGLISH = (
    "It was the best of times, it was the worst of times; nobody knew (yet) which one, "
    "and 42 people had tried to find out."
)
_JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
_LIST = "- first the milk, then two eggs\n- größere Äpfel\n- 日本語 as well\n"

# The texts of grammars that are kept elsewhere, by file name.
_TEXTS_OF: dict[str, tuple[str, ...]] = {
    "arithmetic.gbnf": ("a +12*(b_1 -3) = 42\nx=y\n",),
    "c.gbnf": (_C,),
    "chess.gbnf": (_CHESS,),
    "english.gbnf": (_ENGLISH,),
    "japanese.gbnf": (_JAPANESE,),
    "json.gbnf": (
        '{"name": "Ada", "tags": ["a", "b c"], "n": -12.5e3, "sub": {"x": null, "y": [true]}}',
    ),
    "json_arr.gbnf": ('[\n{"id": 1, "text": "größe \\u00e9"},\n[1, 2, 3.25],\n"end"]',),
    "list.gbnf": (_LIST,),
    "code.lark": (code_document(1, 900),),
    "date.ebnf": ("2024-02-29",),
    "ipv4.regex": ("192.168.17.250",),
    "json.ebnf": (json_document(3, 900),),
    "json.lark": (json_document(4, 900),),
    "person.ebnf": ('{"name": "ada", "age": 36, "admin": true}',),
    "words.ebnf": ("hedgehog", "kangaroo"),
    "sql.gbnf": _SQL_TEXTS,
    "tool_call.gbnf": _TOOL_TEXTS,
    "xml.gbnf": _XML_TEXTS,
}
_DIALECTS = {".gbnf": "gbnf", ".ebnf": "kbnf", ".lark": "lark", ".regex": "regex"}


def requests(gbnf: Path) -> list[Request]:
    """llama.cpp's grammars from the folder ``gbnf``, this project's examples, and three more."""
    files = [*sorted(gbnf.glob("*.gbnf")), *sorted(_EXAMPLES.iterdir()), *sorted(_HERE.iterdir())]
    return [
        Request(path.name, _DIALECTS[path.suffix], _text(path), _TEXTS_OF[path.name])
        for path in files
        if path.suffix in _DIALECTS
    ]


def _text(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text.strip() if path.suffix == ".regex" else text
