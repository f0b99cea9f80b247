"""What the command line has to be told of grammars out of other people's repositories."""

from collections.abc import Mapping
from typing import Any

# Tokens of programming languages.
IDENT, STRING, NUMBER = "[A-Za-z_][A-Za-z_0-9]*", '"[^"]*"', r"[0-9]+(\.[0-9]+)?"
MARKS = ["SEMICOLON=;", "EQUALS==", r"LPAREN=\(", r"RPAREN=\)", r"LBRACE=\{", r"RBRACE=\}"]
MARKS += ["ARROW=->", r"DOT=\."]
WORDS = ["RETURN=return", "NULL=null", "BOOLEAN=true|false", "TYPE=[A-Z][a-z]*"]
JAVA = [f"Identifier={IDENT}", "IntegerLiteral=[0-9]+", r"FloatingPointLiteral=[0-9]+\.[0-9]+"]
JAVA += ["BooleanLiteral=true|false", "CharacterLiteral='.'", "NullLiteral=null"]
JAVA += [f"StringLiteral={STRING}"]

# By the file's name: --start, --dialect and --define.
NEEDS: Mapping[str, Mapping[str, Any]] = {
    "abnf__rfc3339.abnf": {"start": "date-time"},
    "abnf__rfc5322.abnf": {"start": "address-list"},
    "antlr__Java8Parser.g4": {"start": "compilationUnit", "define": JAVA},
    "chessnote__docs_grammar.ebnf": {"define": ["digit=[0-9]"]},
    "cool__docs_grammar.ebnf": {
        "define": [f"ident={IDENT}", f"numeric_literal={NUMBER}", f"string_literal={STRING}"],
    },
    "iso__pascal.isoebnf": {
        "define": [r"white_space characters=\s", "? all visible characters ?=[!-~]"],
    },
    "lark__lark_grammars_common.lark": {"start": "ESCAPED_STRING"},
    "lark__examples_advanced_python2.lark": {"start": "file_input"},
    "lark__lark_grammars_python.lark": {"start": "file_input"},
    "lark__lark_grammars_unicode.lark": {"start": "WS"},
    "ligurio__lark_grammars_grammars_python3.lark": {"start": "file_input"},
    "ligurio__lark_grammars_grammars_rfc_1738.lark": {"define": ["dataurl=data:.*"]},
    "outlines__src_outlines_grammars_common.lark": {"start": "NUMBER"},
    "pl0__grammar_en.ebnf": {"define": ["DO=DO"]},
    "pry__grammar.ebnf": {
        "define": [
            f"IDENTIFIER={IDENT}",
            f"STRING={STRING}",
            f"NUMBER={NUMBER}",
            "CHAR='.'",
            *MARKS,
            *WORDS,
        ],
    },
    "wild__business-rules-dsl.ebnf": {
        "dialect": "iso14977",
        "define": [r"white space characters=\s", "? all visible characters ?=[!-~]"],
    },
    "wild__mathic.ebnf": {
        "define": [f"IDENT={IDENT}", "INT=[0-9]+", f"FLOAT={NUMBER}", f"STRING={STRING}"],
    },
    "wild__relop.ebnf": {
        "define": ["EOF=", f"IDENTIFIER={IDENT}", "NUMBER=[0-9]+", f"LITERAL={STRING}"],
    },
    **{
        f"tcfg__examples_grammars_{name}.ebnf": {"dialect": "gbnf"}
        for name in (
            "PDDL_depot_typed",
            "animal",
            "chess",
            "custom_json_grammars_grammars_product_catalog",
            "custom_json_grammars_grammars_student",
            "emoji",
            "japanese",
            "json_arr",
            "korean",
            "unicode_emoji_escape",
        )
    },
}
