r"""Write the automata of the formats of JSON Schema, ``compiler/schema/formats.json``.

    python -m tests.generators.make_formats > compiler/schema/formats.json

A format is a pattern of ECMA-262, joined from smaller ones:

    date       RFC 3339, section 5.6, with the days of each month and leap years
    duration   RFC 3339, appendix A                 uuid        RFC 4122
    email      RFC 5321, section 4.1.2              hostname    RFC 1123, section 2.1
    idn-email  RFC 6531, section 3.3                idn-hostname  RFC 5890, section 2.3.2.3
    ipv4       RFC 2673, section 3.2                ipv6        RFC 4291, section 2.2
    uri        RFC 3986, appendix A                 iri         RFC 3987, section 2.2
    uri-template                                    RFC 6570, section 2, with erratum 6937
    json-pointer                                    RFC 6901, section 3
    relative-json-pointer                           the draft that extends it
    regex                                           ECMA-262, section 22.2.1

Most are exact. Where one is not, it is a part of the format: ``NARROWED`` of
``compiler/schema/formats.py`` says what is left out.
"""

import json
import sys
from collections.abc import Mapping

import numpy as np

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.schema.formats import Packed
from constrain.compiler.schema.patterns import search


def packed(dfa: Dfa) -> Packed:
    """A minimal automaton as the file holds it; inverse of reading it."""
    begins = np.append(0, np.flatnonzero(dfa.classes[1:] != dfa.classes[:-1]) + 1)
    cells = dfa.table.ravel()
    runs = np.append(0, np.flatnonzero(cells[1:] != cells[:-1]) + 1)
    counts = np.diff(np.append(runs, len(cells)))
    return Packed(
        classes=_joined(np.column_stack([begins, dfa.classes[begins]])),
        cells=_joined(np.column_stack([cells[runs], counts])),
        accepting=_joined(np.flatnonzero(dfa.accepting)),
    )


def _joined(numbers: "np.ndarray[tuple[int, ...], np.dtype[np.integer]]") -> str:
    return " ".join(map(str, numbers.ravel().tolist()))


def _one_of(*options: str) -> str:
    return f"(?:{'|'.join(options)})"


# RFC 3339, without leap seconds.
_MONTH_DAYS = _one_of(
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "02-(?:0[1-9]|1[0-9]|2[0-8])",
)
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = f"(?:[0-9]{{4}}-{_MONTH_DAYS}|{_LEAP_YEAR}-02-29)"
_HOURS_MINUTES = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_HOURS_MINUTES}:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-]{_HOURS_MINUTES})"
_SECONDS = "[0-9]+S"
_MINUTES = f"[0-9]+M(?:{_SECONDS})?"
_HOURS = f"[0-9]+H(?:{_MINUTES})?"
_CLOCK = f"T{_one_of(_HOURS, _MINUTES, _SECONDS)}"
_DAYS = "[0-9]+D"
_MONTHS = f"[0-9]+M(?:{_DAYS})?"
_YEARS = f"[0-9]+Y(?:{_MONTHS})?"
_DURATION = f"P{_one_of(f'{_one_of(_DAYS, _MONTHS, _YEARS)}(?:{_CLOCK})?', _CLOCK, '[0-9]+W')}"

# RFC 3986 and, with more characters, RFC 3987.
_OCTET = _one_of("[0-9]", "[1-9][0-9]", "1[0-9]{2}", "2[0-4][0-9]", "25[0-5]")
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = _one_of(f"{_H16}:{_H16}", _IPV4)
_IPV6 = _one_of(
    f"(?:{_H16}:){{6}}{_LS32}",
    f"::(?:{_H16}:){{5}}{_LS32}",
    *(f"(?:(?:{_H16}:){{0,{n}}}{_H16})?::(?:{_H16}:){{{4 - n}}}{_LS32}" for n in range(5)),
    f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
    f"(?:(?:{_H16}:){{0,6}}{_H16})?::",
)
_UCSCHAR = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}" + "".join(
    rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 14)
).replace(r"\u{E0000}", r"\u{E1000}")
_IPRIVATE = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"
_PERCENT = "%[0-9A-Fa-f]{2}"


def _resource(more: str, private: str, is_relative: bool) -> str:
    """A URI, or a reference to one if ``is_relative``; ``more``: characters that are unreserved,
    ``private``: those that a query may have."""
    plain = rf"\w\-.~{more}!$&'()*+,;="
    segment = f"(?:[{plain}:@]|{_PERCENT})"
    userinfo = f"(?:(?:[{plain}:]|{_PERCENT})*@)?"
    address = rf"\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[\w\-.~!$&'()*+,;=:]+)\]"
    host = f"(?:{address}|(?:[{plain}]|{_PERCENT})*)"
    authority = f"//{userinfo}{host}(?::[0-9]*)?(?:/{segment}*)*"
    absolute = f"/(?:{segment}+(?:/{segment}*)*)?"
    tail = rf"(?:\?(?:[{plain}:@/?{private}]|{_PERCENT})*)?(?:#(?:[{plain}:@/?]|{_PERCENT})*)?"
    rootless = f"{segment}+(?:/{segment}*)*"
    uri = f"[A-Za-z][A-Za-z0-9+.\\-]*:(?:{authority}|{absolute}|{rootless}|){tail}"
    if not is_relative:
        return uri
    no_colon = f"(?:[{plain}@]|{_PERCENT})+(?:/{segment}*)*"
    return f"(?:{uri}|(?:{authority}|{absolute}|{no_colon}|){tail})"


_ALNUM, _LDH = "[A-Za-z0-9]", r"[A-Za-z0-9\-]"

# A label of up to 63 characters, with no two hyphens in its places 3 and 4.
_LABEL = (
    f"{_ALNUM}(?:{_LDH}?{_ALNUM}|{_LDH}"
    f"(?:(?:{_ALNUM}{{2}}|-{_ALNUM})(?:{_LDH}{{0,58}}{_ALNUM})?|{_ALNUM}-{_LDH}{{0,58}}{_ALNUM}))?"
)


def _name_of(longest: int) -> str:
    """Labels of ``longest`` characters together, with their dots; no two hyphens stand together."""
    last_letter = f"(?=[A-Za-z0-9\\-.]{{1,{longest}}}$)"
    return f"{last_letter}{_ALNUM}+(?:-{_ALNUM}+)*(?:\\.{_ALNUM}+(?:-{_ALNUM}+)*)*"


# 63 + 1 + 63 + 1 + 63 + 1 + 61 = 253 characters.
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL}(?:\.{_LABEL}(?:\.{_name_of(61)})?)?)?"

_ATEXT = r"[\w!#$%&'*+\-/=?^`{|}~]"
_LOCAL = rf"(?=[^@]{{1,64}}@){_ATEXT}+(?:\.{_ATEXT}+)*"
# Without angle brackets, which some readers take for those around an address.
_QUOTED = r'"[ !#-;=?-\[\]-~]{1,62}"'
_MAILBOX = rf"(?:{_LOCAL}|{_QUOTED})@(?:{_name_of(63)}|\[(?:{_IPV4}|IPv6:{_IPV6})\])"

# Letters that are valid in labels wherever they stand (RFC 5892), are no others' composition, and
# are written from left to right: of Latin, Greek, Cyrillic, Japanese, Chinese and Korean.
_LETTERS = (
    r"\u{DF}-\u{F6}\u{F8}-\u{FF}\u{3AC}-\u{3AF}\u{3B1}-\u{3C9}\u{3CC}-\u{3CE}\u{430}-\u{45F}"
    r"\u{3041}-\u{3096}\u{30A1}-\u{30FA}\u{30FC}\u{4E00}-\u{9FA5}\u{AC00}-\u{D7A3}"
)
# So few of them never take more than 63 characters of Punycode.
_U_LABEL = rf"(?=[^.]{{1,10}}(?:\.|$))[a-z0-9{_LETTERS}]+(?:-[a-z0-9{_LETTERS}]+)*"
_IDN_LABEL = f"(?:{_LABEL}|{_U_LABEL})"
_IDN_HOSTNAME = (
    rf"{_IDN_LABEL}(?:\.{_IDN_LABEL}(?:\.{_IDN_LABEL}(?:\.(?:{_U_LABEL}|{_name_of(61)}))?)?)?"
)
_IDN_LOCAL = rf"(?=[^@]{{1,16}}@)(?:{_ATEXT}|[^\0-\x7f])+(?:\.(?:{_ATEXT}|[^\0-\x7f])+)*"
_IDN_QUOTED = r'"(?:[ !#-;=?-\[\]-~]|[^\0-\x7f]){1,16}"'
_IDN_MAILBOX = (
    f"(?:{_LOCAL}|{_IDN_LOCAL}|{_QUOTED}|{_IDN_QUOTED})"
    rf"@(?:{_name_of(63)}|{_U_LABEL}(?:\.{_U_LABEL}){{0,2}}|\[(?:{_IPV4}|IPv6:{_IPV6})\])"
)

_VARCHAR = rf"(?:\w|{_PERCENT})"
_VARNAME = rf"{_VARCHAR}(?:\.?{_VARCHAR})*"
_VARSPEC = rf"{_VARNAME}(?:\*|:[1-9][0-9]{{0,3}})?"
_LITERAL = rf"[!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{_UCSCHAR}{_IPRIVATE}]"
_TEMPLATE = rf"(?:{_LITERAL}|{_PERCENT}|\{{[+#./;?&]?{_VARSPEC}(?:,{_VARSPEC})*\}})*"


def _regex(depth: int) -> str:
    """Patterns of ECMA-262 with so many groups inside one another."""
    escape = (
        r"(?:[dDwWsSnrtfv^$\\.*+?()\[\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
        r"|u\{[0-9A-Fa-f]{1,5}\}|[pP]\{(?:L[ulmot]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)\})"
    )
    ranges = "0-[0-9]|1-[1-9]|a-[a-z]|A-[A-Z]"
    member = rf"(?:[^\\\]\-]|\\(?:{escape}|[b\-])|{ranges})"
    atom = rf"(?:[^\^$\\*+?()\[\]{{}}|]|\\{escape}|\[\^?-?{member}*-?\])"
    quantifier = r"(?:[*+?]|\{(?:\d+(?:,)?|0,\d+|1,[1-9]\d*)\})\??"
    inside = ""
    for _ in range(depth + 1):
        groups = rf"\((?:\?:)?{inside}\)|" if inside else ""
        looks = rf"|\(\?<?[=!]{inside}\)" if inside else ""
        term = rf"(?:(?:{groups}{atom})(?:{quantifier})?|[\^$]|\\[bB]{looks})"
        inside = rf"{term}*(?:\|{term}*)*"
    return inside


_POINTER = "(?:/(?:[^/~]|~[01])*)*"
PATTERNS: Mapping[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}[Tt]{_TIME}",
    "duration": _DURATION,
    "email": _MAILBOX,
    "idn-email": _IDN_MAILBOX,
    "hostname": _HOSTNAME,
    "idn-hostname": _IDN_HOSTNAME,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uri": _resource("", "", False),
    "uri-reference": _resource("", "", True),
    "iri": _resource(_UCSCHAR, _IPRIVATE, False),
    "iri-reference": _resource(_UCSCHAR, _IPRIVATE, True),
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "uri-template": _TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
    "regex": _regex(2),
}


def main() -> None:
    """Write the file to standard output, a line for each format."""
    lines = [f"{json.dumps(name)}: {encoded(name)}" for name in PATTERNS]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


def encoded(name: str) -> str:
    """What the file says of a format."""
    return json.dumps(packed(search(f"^(?:{PATTERNS[name]})$")))


if __name__ == "__main__":
    main()
