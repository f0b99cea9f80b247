"""Automata of formats, against the test suite of JSON Schema and other readers of each format."""

import calendar
import ipaddress
import json
import random
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from generators import make_formats
from support.oracles.automata import minimize_via_moore

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.members import Members
from constrain.compiler.schema import formats, patterns

# Where the others are narrowed, or take a second to compile.
SLOW = ("idn-email", "idn-hostname", "regex")
QUICK = tuple(name for name in make_formats.PATTERNS if name not in SLOW)

# Valid instances of the suite that are left out, by format: descriptions of the tests.
LEFT_OUT: dict[str, set[str]] = {
    "date-time": {
        "a valid date-time with a leap second, UTC",
        "a valid date-time with a leap second, with minus offset",
    },
    "hostname": {
        "Arabic-Indic digits not mixed with Extended Arabic-Indic digits",
        "Exceptions that are PVALID, left-to-right chars",
        "Exceptions that are PVALID, right-to-left chars",
        "Extended Arabic-Indic digits not mixed with Arabic-Indic digits",
        "Greek KERAIA followed by Greek",
        "Hebrew GERESH preceded by Hebrew",
        "Hebrew GERSHAYIM preceded by Hebrew",
        "KATAKANA MIDDLE DOT with Han",
        "KATAKANA MIDDLE DOT with Hiragana",
        "KATAKANA MIDDLE DOT with Katakana",
        "MIDDLE DOT with surrounding 'l's",
        "ZERO WIDTH JOINER preceded by Virama",
        "ZERO WIDTH NON-JOINER not preceded by Virama but matches regexp",
        "ZERO WIDTH NON-JOINER preceded by Virama",
        "a valid host name (example.test in Hangul)",
        "a valid punycoded IDN hostname",
        "hostname with consecutive hyphens (RFC1123)",
    },
    "idn-email": {
        "a domain label that is not in Unicode NFC is valid",
    },
    "idn-hostname": {
        "Arabic-Indic digits not mixed with Extended Arabic-Indic digits",
        "Exceptions that are PVALID, left-to-right chars",
        "Exceptions that are PVALID, right-to-left chars",
        "Extended Arabic-Indic digits not mixed with Arabic-Indic digits",
        "Greek KERAIA followed by Greek",
        "Hebrew GERESH preceded by Hebrew",
        "Hebrew GERSHAYIM preceded by Hebrew",
        "KATAKANA MIDDLE DOT with Han",
        "KATAKANA MIDDLE DOT with Hiragana",
        "KATAKANA MIDDLE DOT with Katakana",
        "MIDDLE DOT with surrounding 'l's",
        "ZERO WIDTH JOINER preceded by Virama",
        "ZERO WIDTH NON-JOINER not preceded by Virama but matches regexp",
        "ZERO WIDTH NON-JOINER preceded by Virama",
        "fullwidth full stop as label separator",
        "halfwidth ideographic full stop as label separator",
        "ideographic full stop as label separator",
        "label too long if separator ignored (full stop)",
        "label too long if separator ignored (fullwidth full stop)",
        "label too long if separator ignored (halfwidth ideographic full stop)",
        "label too long if separator ignored (ideographic full stop)",
        "valid Chinese Punycode",
    },
    "regex": {
        "an ECMA 262 named backreference \\k<name>",
        "an ECMA 262 named group (?<name>...)",
    },
    "time": {
        "a valid time string with leap second, Zulu",
        "valid leap second, large negative time-offset",
        "valid leap second, large positive time-offset",
        "valid leap second, negative time-offset",
        "valid leap second, positive time-offset",
        "valid leap second, zero time-offset",
    },
}


def language(name: str) -> Dfa:
    """The automaton of a format that is known."""
    dfa = formats.language(name)
    assert dfa is not None
    return dfa


def holds(dfa: Dfa, text: str) -> bool:
    """Whether a text is a member."""
    return dfa.accepts(text.encode("utf-8", "surrogatepass"))


def texts_near(dfa: Dfa, count: int, seed: int) -> list[str]:
    """Members by random walks, and what is left when one character changes."""
    rng = random.Random(seed)
    ranges = dfa.byte_ranges()
    found = []
    while len(found) < count:
        state, octets, ends = dfa.start, bytearray(), rng.choice([0.5, 0.1, 0.03])
        while not (dfa.accepting[state] and rng.random() < ends):
            columns = np.flatnonzero(dfa.table[state, : dfa.byte_columns]).tolist()
            if not columns or len(octets) > 300:
                break
            column = rng.choice(columns)
            octets.append(rng.choice([o for r in ranges[column] for o in r]))
            state = int(dfa.table[state, column])
        if not dfa.accepting[state]:
            continue
        text = octets.decode()
        place = rng.randrange(len(text) + 1)
        other = rng.choice("0129abzAZ:./-_~%+@?#[]{}*,=!'\"\\^|$() TtPYMWé中\ue000\n")
        change = rng.choice([other, "", other + text[place : place + 1]])
        found += [text, text[:place] + change + text[place + 1 :]]
    return found


def test_the_file_of_formats_is_what_its_generator_writes(full: bool) -> None:
    """Compiled again, each is the same."""
    data = (Path(formats.__file__).parent / "formats.json").read_text(encoding="utf-8")
    read = json.loads(data)
    assert list(make_formats.PATTERNS) == list(read)
    for name in make_formats.PATTERNS if full else QUICK:
        line = f"{json.dumps(name)}: {make_formats.encoded(name)}"
        assert line in data, "run python -m tests.generators.make_formats"


@pytest.mark.parametrize("name", make_formats.PATTERNS)
def test_formats_are_minimal_and_small(name: str) -> None:
    """As they are copied into grammars."""
    dfa = language(name)
    assert dfa.states < 2000
    if dfa.states < 600:
        assert minimize_via_moore(dfa).states == dfa.states


@pytest.mark.quick
def test_unknown_formats_have_no_automaton() -> None:
    """Names are case-sensitive."""
    assert formats.language("Date") is None
    assert formats.language("int32") is None
    assert set(formats.NARROWED) <= set(make_formats.PATTERNS)


def test_the_suites_formats_have_no_false_positive(data: Callable[[str], Path]) -> None:
    """Every optional case of all drafts; the valid instances that are left out are listed."""
    folder = data("suites/json-schema-test-suite/tests")
    count = 0
    missing: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*/optional/format/*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            dfa = formats.language(group["schema"]["format"])
            if dfa is None:
                assert path.name == "unknown.json"
                continue
            for test in group["tests"]:
                if not isinstance(test["data"], str):
                    continue
                count += 1
                found = holds(dfa, test["data"])
                assert test["valid"] or not found, (path, test["description"])
                if not found and test["valid"]:
                    missing.setdefault(group["schema"]["format"], set()).add(test["description"])
    assert count > 1500
    assert missing == LEFT_OUT


def test_dates_are_those_of_the_calendar(full: bool) -> None:
    """Every day of some years, and what stands beside it."""
    dfa = language("date")
    years = range(10000) if full else [0, 1, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9999]
    for year in years:
        leap = calendar.isleap(year)
        for month in range(14):
            days = calendar.mdays[month] + (leap and month == 2) if 1 <= month <= 12 else 0
            for day in (0, 1, 9, 10, 28, 29, 30, 31, 32):
                text = f"{year:04}-{month:02}-{day:02}"
                assert (1 <= day <= days) == holds(dfa, text), text
                if day in (1, 31):
                    moment = f"{text}T23:59:59.5-00:00"
                    assert (1 <= day <= days) == holds(language("date-time"), moment)


@pytest.mark.quick
def test_times_have_hours_minutes_seconds_and_offsets() -> None:
    """All pairs of digits."""
    dfa = language("time")
    for number in range(100):
        assert (number < 24) == holds(dfa, f"{number:02}:00:00Z")
        assert (number < 60) == holds(dfa, f"00:{number:02}:00z")
        assert (number < 60) == holds(dfa, f"00:00:{number:02}.0+00:00")
        assert (number < 24) == holds(dfa, f"00:00:00-{number:02}:59")
        assert (number < 60) == holds(dfa, f"00:00:00+23:{number:02}")


@pytest.mark.parametrize(
    ("name", "reader"), [("ipv4", ipaddress.IPv4Address), ("ipv6", ipaddress.IPv6Address)]
)
def test_addresses_are_those_that_python_reads(
    name: str, reader: Callable[[str], object], full: bool
) -> None:
    """Members and their neighbours; zones are no part of the format."""

    def reads(text: str) -> bool:
        try:
            reader(text)
        except ValueError:
            return False
        return "%" not in text

    for text in texts_near(language(name), 20_000 if full else 750, seed=1):
        assert reads(text) == holds(language(name), text), text


# RFC 3986, appendix A, in Python's syntax and with other means than the generator's.
SEGMENT = r"(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    r"(?://(?P<authority>[^/?#]*)(?P<abempty>(?:/SEGMENT*)*)|(?!//)(?P<path>(?:SEGMENT|/)*))"
    r"(?:\?(?:SEGMENT|[/?])*)?(?:\#(?:SEGMENT|[/?])*)?".replace("SEGMENT", SEGMENT),
    re.ASCII,
)
AUTHORITY = re.compile(
    r"(?:(?:[\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?"
    r"(?:\[(?P<six>[^\]]*)\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?",
    re.ASCII,
)


def is_uri(text: str) -> bool:
    """Whether a text is a URI of RFC 3986."""
    found = URI.fullmatch(text)
    if not found or found["authority"] is None:
        return found is not None
    authority = AUTHORITY.fullmatch(found["authority"])
    if not authority or authority["six"] is None:
        return authority is not None
    future = re.fullmatch(r"[vV][0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+", authority["six"], re.ASCII)
    return future is not None or holds(language("ipv6"), authority["six"])


def test_uris_are_those_of_the_standard(full: bool) -> None:
    """A URI is a reference and an IRI, too; of ASCII an IRI has no more."""
    for text in texts_near(language("uri"), 20_000 if full else 750, seed=2):
        expected = is_uri(text)
        assert expected == holds(language("uri"), text), text
        assert not expected or holds(language("uri-reference"), text), text
        if text.isascii():
            assert expected == holds(language("iri"), text), text
    for text in texts_near(language("iri-reference"), 5000 if full else 500, seed=3):
        encoded = "".join(c if c.isascii() else f"%{ord(c) % 256:02X}" for c in text)
        if holds(language("iri-reference"), text):
            assert holds(language("uri-reference"), encoded), text


def test_host_names_keep_their_lengths() -> None:
    """Labels of 63 characters, names of 253, in ASCII form."""
    for dfa in (language("hostname"), language("idn-hostname")):
        label = "a" * 63
        assert holds(dfa, label)
        assert not holds(dfa, label + "a")
        assert holds(dfa, f"{label}.{label}.{label}.{'a' * 61}")
        assert not holds(dfa, f"{label}.{label}.{label}.{'a' * 62}")
        assert holds(dfa, "a.b.c." + ".".join("de-f" for _ in range(12)))
        assert holds(dfa, "r2-d2.a--b.example.com")
        for wrong in ("xn--a", "ab--c", "-a", "a-", "a.", ".a", "a..b", "a_b", "a.-b"):
            assert not holds(dfa, wrong), wrong
        assert max(map(len, texts_near(dfa, 2000, seed=4))) <= 260
    email = language("email")
    assert holds(email, f"{'a' * 64}@{'b' * 63}")
    assert not holds(email, f"{'a' * 65}@b")
    assert not holds(email, f"a@{'b' * 64}")


def test_labels_beyond_ascii_fit_into_punycode() -> None:
    """The longest A-label that ten letters make has less than 64 characters."""
    rng = random.Random(5)
    letters = "aß\u03b1\u0430\u3041\u30fc\u4e00\u9fa5\uac00\ud7a3z0"
    longest = 0
    for _ in range(3000):
        label = "".join(rng.choices(letters, k=10))
        if not label.isascii():
            assert holds(language("idn-hostname"), label)
            longest = max(longest, len(label.encode("punycode")) + len("xn--"))
    assert 30 < longest < 64


@pytest.mark.parametrize("name", make_formats.PATTERNS)
def test_members_of_a_format_are_valid_to_another_validator(name: str, full: bool) -> None:
    """Where a format is exact, what is no member is invalid to it, too, as far as it is exact."""
    validators = pytest.importorskip("jsonschema_rs")
    schema = {"type": "string", "format": name}
    validator = validators.Draft202012Validator(schema, validate_formats=True)
    dfa = language(name)
    texts = texts_near(dfa, 5000 if full else 100, seed=6)
    if name not in ("uuid", "date"):
        draws = islice(Members(dfa).draws(at_most=40, seed=7), 200 if full else 15)
        texts += [text.decode() for text in draws]
    # What it reads of dates and times it does not check to be digits.
    is_exact = name not in formats.NARROWED and name != "date"
    for text in texts:
        found = holds(dfa, text)
        assert validator.is_valid(text) or not found, text
        assert found or not is_exact or not validator.is_valid(text), text


def test_patterns_of_the_regex_format_can_be_searched_for() -> None:
    """What is a member, the reader of patterns reads, look-around apart."""
    refused = 0
    for text in texts_near(language("regex"), 400, seed=8):
        if holds(language("regex"), text):
            try:
                patterns.parse(text)
            except patterns.PatternError:
                refused += 1
    assert refused == 0
