"""A format of each kind as an expression of the tree; rules for those that have parts.

    tag <a> x </a>          "<a>" x "</a>"
    triggered_tags          (text "<a" (rest of one of the tags))* text
    tags_with_separator     (tag (separator tag)*)?
    any_tokens              (any token but those excluded)*

Free text in a tag contains none of the tag's ends, and tokens in a tag that ends with a token are
none of that: the nearest tag around counts, as the description has it.
"""

from collections.abc import Mapping
from dataclasses import replace

from ..automata import regex_ir as regex
from ..automata.boolean import embedded
from ..grammar import tree
from ..schema.options import ANY_ORDER
from ..schema.read import Json
from .dispatching import Dispatching
from .fields import UNSUPPORTED, is_older
from .free_text import texts_without
from .writing import Around


class Formats(Dispatching):
    """Reads the formats of a document whose fields are as they must be: each kind has a method of
    its name."""

    def read(self) -> None:
        """All formats; the rule of the whole is ``#``."""
        span = self.document.spans[""]
        self.rules.append(tree.Rule("#", span, tree.Literal(b"", span), span))
        value = self.document.value
        if is_older(value):
            body = self.structures(value)
        else:
            body = self.format("/format", value["format"], Around())
        self.rules[0] = replace(self.rules[0], body=body)
        self.write_schemas()

    def format(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        """The expression of the format at a pointer."""
        self.limits.check_resources("the structural tag", [f"#{pointer}"])
        outer, self._span = self._span, self.document.spans[pointer]
        kind = value.get("type", "tag")
        found: tree.Expr = getattr(self, _METHODS.get(kind, kind))(pointer, value, around)
        self._span = outer
        return found

    # --- one chunk

    def const_string(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.text(value["value"])

    def any_text(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        without, most = {*value.get("excludes", ()), *around.texts}, value.get("max_chars")
        if value.get("max_tokens") is not None:
            if not without and most is None:
                message = "tokens are counted, and may be any: special ones, too"
                self.note(f"{pointer}/max_tokens", message)
                return self.any_tokens(pointer, value, around)
            message = "tokens are counted where the text may be any, up to a token"
            hint = (
                'say the end of its tag as {"type": "token", "token": …}, and neither excludes nor '
                "max_chars; else max_chars counts its characters"
            )
            return self.refuse(f"{pointer}/max_tokens", message, hint)
        if most is None:
            return self.free_text(pointer, without)
        characters = tree.Pattern(regex.ANY_CHARACTER, ".", self._span)
        if not without:
            return self.repetition(characters, 0, most)
        # Small ones are built, others followed while decoding.
        few = regex.repeat(regex.ANY_CHARACTER, 0, most, f".{{0,{most}}}")
        node = regex.intersection(few, embedded(texts_without(without, (), self.limits)))
        return self.rule(f"#{pointer}", tree.Pattern(node, "any text", self._span))

    def json_schema(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        options, style = self.options, value.get("style", "json")
        if value["type"] == "qwen_xml_parameter":
            style = "qwen_xml"
        excludes = value.get("excludes", [])
        if style != "json" and any(each != each.strip() for each in excludes):
            message = (
                "white space stands around values: what is excluded neither begins nor ends so"
            )
            return self.refuse(f"{pointer}/excludes", message)
        if value.get("any_order"):
            options = replace(options, order=ANY_ORDER)
            message = "every key comes once, and all that are required, in any order"
            self.note(f"{pointer}/any_order", message)
        most = value.get("max_whitespace_cnt")
        if most is not None:
            options = replace(options, whitespace=str(min(most, 1_000)))
        if style in UNSUPPORTED:
            return self.refuse(f"{pointer}/style", f"the style {style} is not supported")
        return self.schema(f"{pointer}/json_schema", options, tuple(sorted(set(excludes))), style)

    def grammar(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.other(f"{pointer}/grammar", value["grammar"], "gbnf")

    def regex(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.other(f"{pointer}/pattern", value["pattern"], "regex")

    # --- several

    def elements(self, pointer: str, value: Json, around: Around) -> list[tree.Expr]:
        """The formats of ``elements``."""
        found = value["elements"]
        return [self.format(f"{pointer}/elements/{i}", f, around) for i, f in enumerate(found)]

    def in_sequence(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.sequence(*self.elements(pointer, value, around))

    def one_of(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.rule(f"#{pointer}", self.choice(self.elements(pointer, value, around)))

    def repeated(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        least, most = _TIMES.get(value["type"]) or (value["min"], value["max"])
        if 0 <= most < least:
            return self.refuse(f"{pointer}/max", f"this must be at least min, which is {least}")
        item = self.format(f"{pointer}/content", value["content"], around)
        return self.repetition(item, least, None if most < 0 else most)

    # --- tags

    def tag(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        begin = value["begin"]
        first = self.text(begin) if isinstance(begin, str) else self.one_token([begin["token"]])
        return self.rule(f"#{pointer}", self.sequence(first, self.rest_of(pointer, value)))

    def rest_of(self, pointer: str, value: Json) -> tree.Expr:
        """The content and the end of a tag."""
        end = value["end"]
        if isinstance(end, Mapping):
            inner, last = Around(tokens=(end["token"],)), self.one_token([end["token"]])
        else:
            ends = [end] if isinstance(end, str) else end
            inner = Around(texts=tuple(each for each in ends if each))
            last = self.choice([self.text(each) for each in dict.fromkeys(ends)])
        return self.sequence(self.format(f"{pointer}/content", value["content"], inner), last)

    def tags_with_separator(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        tags = [self.format(f"{pointer}/tags/{i}", t, around) for i, t in enumerate(value["tags"])]
        one = tags[0] if len(tags) == 1 else self.rule(f"#{pointer} tag", self.choice(tags))
        found = one
        if not value.get("stop_after_first", False):
            following = self.sequence(self.text(value["separator"]), one)
            found = self.sequence(one, self.repetition(following, 0, None))
        if not value.get("at_least_one", False):
            found = self.repetition(found, 0, 1)
        return self.rule(f"#{pointer}", found)

    # --- tokens

    def token(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.one_token([value["token"]])

    def exclude_token(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        return self.one_token([*value.get("exclude_tokens", ()), *around.tokens], negated=True)

    def any_tokens(self, pointer: str, value: Json, around: Around) -> tree.Expr:
        item = self.exclude_token(pointer, value, around)
        return self.repetition(item, 0, value.get("max_tokens"))


# How often what is repeated stands there; without a highest number as in ``repeat``.
_TIMES = {"optional": (0, 1), "plus": (1, -1), "star": (0, -1)}

# What writes a kind whose name is no method's.
_METHODS = {"qwen_xml_parameter": "json_schema", "sequence": "in_sequence", "or": "one_of"}
_METHODS |= {"token_dispatch": "dispatch", **dict.fromkeys((*_TIMES, "repeat"), "repeated")}
