"""Five JSON Schemas as programs use them, and instances of each as models write them: of fixed
seeds, with words and numbers of everyday size."""

import random
from collections.abc import Callable, Iterator
from typing import Any

_FIRST = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Ken", "Radia", "Tony"]
_LAST = ["Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Allen", "Perlman", "Hoare"]
_CITIES = ["Berlin", "New York", "São Paulo", "Osaka", "Nairobi", "Lyon", "Winterthur", "Tromsø"]
_THINGS = ["order", "cable", "customer", "screw", "invoice", "Friday", "answer", "price", "box"]
_OTHERS = [
    "the",
    "a",
    "is",
    "was",
    "sent",
    "late",
    "please",
    "check",
    "because",
    "and",
    "our",
    "new",
]
_WORDS = [*_THINGS, *_OTHERS]
_STRING: dict[str, Any] = {"type": "string"}
_DATE: dict[str, Any] = {"type": "string", "format": "date"}

Instances = Callable[[random.Random], Any]


def schemas() -> Iterator[tuple[str, dict[str, Any], Instances]]:
    """A name, a schema, and what makes instances of it, whose keys are in the schema's order."""
    yield "person", _PERSON, _person
    yield "tool call", _CALL, _call
    yield "order", _ORDER, _order
    yield "log event", _EVENT, _event
    yield "extraction", _EXTRACTION, _extraction


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


_PERSON = _object(
    {
        "first_name": _STRING,
        "last_name": _STRING,
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "email": {"type": "string", "pattern": r"^[a-z.]+@[a-z]+\.(com|org)$"},
        "address": _object({"street": _STRING, "city": _STRING, "country": {"enum": ["DE", "US"]}}),
        "newsletter": {"type": "boolean"},
    },
    ("email",),
)
_CALL = {
    "oneOf": [
        _object(
            {
                "name": {"const": "get_current_weather"},
                "arguments": _object(
                    {"location": _STRING, "unit": {"enum": ["celsius", "fahrenheit"]}}
                ),
            }
        ),
        _object(
            {
                "name": {"const": "search_documents"},
                "arguments": _object(
                    {"query": _STRING, "max_results": {"type": "integer", "minimum": 1}}
                ),
            }
        ),
        _object(
            {
                "name": {"const": "send_email"},
                "arguments": _object({"recipient": _STRING, "subject": _STRING, "body": _STRING}),
            }
        ),
    ]
}
_ORDER = _object(
    {
        "order_id": {"type": "string", "format": "uuid"},
        "placed_on": _DATE,
        "status": {"enum": ["open", "paid", "shipped", "cancelled"]},
        "items": _array(
            _object(
                {
                    "product": _STRING,
                    "quantity": {"type": "integer", "minimum": 1},
                    "unit_price": {"type": "number", "minimum": 0},
                }
            ),
            10,
        ),
    }
)
_EVENT = _object(
    {
        "timestamp": {"type": "string", "format": "date-time"},
        "severity": {"enum": ["debug", "info", "warning", "error", "critical"]},
        "service_name": {"enum": ["billing", "frontend", "inventory", "notifications"]},
        "message": _STRING,
        "duration_milliseconds": {"type": "integer", "minimum": 0},
        "succeeded": {"type": "boolean"},
    }
)
_EXTRACTION = _object(
    {
        "summary": _STRING,
        "sentiment": {"enum": ["positive", "neutral", "negative"]},
        "entities": _array(
            _object(
                {
                    "text": _STRING,
                    "category": {"enum": ["person", "organization", "location", "product"]},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                }
            ),
            8,
        ),
        "requires_follow_up": {"type": "boolean"},
    }
)


def _sentence(chance: random.Random, most: int = 12) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(2, most)))


def _date(chance: random.Random) -> str:
    return f"20{chance.randint(10, 26)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def _person(chance: random.Random) -> Any:
    first, last = chance.choice(_FIRST), chance.choice(_LAST)
    email = {"email": f"{first}.{last}@example.org".lower()} if chance.random() < 0.7 else {}
    return {
        "first_name": first,
        "last_name": last,
        "age": chance.randint(1, 99),
        **email,
        "address": {
            "street": f"{chance.choice(_LAST)} Street {chance.randint(1, 200)}",
            "city": chance.choice(_CITIES),
            "country": chance.choice(["DE", "US"]),
        },
        "newsletter": chance.random() < 0.5,
    }


def _call(chance: random.Random) -> Any:
    unit, query = chance.choice(["celsius", "fahrenheit"]), _sentence(chance, 6)
    person = f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"
    name, arguments = chance.choice(
        [
            ("get_current_weather", {"location": chance.choice(_CITIES), "unit": unit}),
            ("search_documents", {"query": query, "max_results": chance.randint(1, 20)}),
            ("send_email", {"recipient": person, "subject": query, "body": _sentence(chance, 20)}),
        ]
    )
    return {"name": name, "arguments": arguments}


def _order(chance: random.Random) -> Any:
    digits = f"{chance.getrandbits(128):032x}"
    lengths = (8, 4, 4, 4, 12)
    parts = [digits[sum(lengths[:i]) :][:length] for i, length in enumerate(lengths)]
    return {
        "order_id": "-".join(parts),
        "placed_on": _date(chance),
        "status": chance.choice(["open", "paid", "shipped", "cancelled"]),
        "items": [
            {
                "product": _sentence(chance, 3),
                "quantity": chance.randint(1, 12),
                "unit_price": chance.randint(99, 9999) / 100,
            }
            for _ in range(chance.randint(1, 4))
        ],
    }


def _event(chance: random.Random) -> Any:
    hour, minute, second = chance.randint(0, 23), chance.randint(0, 59), chance.randint(0, 59)
    return {
        "timestamp": f"{_date(chance)}T{hour:02}:{minute:02}:{second:02}Z",
        "severity": chance.choice(["debug", "info", "warning", "error", "critical"]),
        "service_name": chance.choice(["billing", "frontend", "inventory", "notifications"]),
        "message": _sentence(chance),
        "duration_milliseconds": chance.randint(1, 5000),
        "succeeded": chance.random() < 0.8,
    }


def _extraction(chance: random.Random) -> Any:
    return {
        "summary": _sentence(chance, 20),
        "sentiment": chance.choice(["positive", "neutral", "negative"]),
        "entities": [
            {
                "text": chance.choice([*_FIRST, *_CITIES]),
                "category": chance.choice(["person", "organization", "location", "product"]),
                "confidence": chance.randint(50, 99) / 100,
            }
            for _ in range(chance.randint(1, 5))
        ],
        "requires_follow_up": chance.random() < 0.5,
    }
