"""Template rules for Python, SQL and shell text; the notation is described in `templates_text`."""

from __future__ import annotations

PYTHON = r"""
:= pyexpr
~snake~
~number~
"~noun~"
self.~snake~
~snake~(~pyexpr~)
~snake~.~verb~(~pyexpr~, ~snake~=~pyexpr~)
~snake~["~key~"]
~snake~[~digit~:]
len(~snake~) - 1
~pyexpr~ + ~pyexpr~
[~pyexpr~ for ~noun~ in ~snake~ if ~pyexpr~ is not None]
{"~key~": ~pyexpr~, "~key~": ~pyexpr~}
f"~noun~: {~snake~}"
isinstance(~snake~, ~pytype~)
(~pyexpr~, ~pyexpr~)
None
True
not ~snake~ == ~pyexpr~
lambda x: x.~snake~
'~noun~ ~noun~'.format(~snake~)
[]
{}

:= pytype
str
int
dict[str, ~pytype~]
list[~pytype~]
float
bool
~Pascal~
Optional[~pytype~]
~pytype~ | None

:: pystmt
~snake~ = ~pyexpr~
|
return ~pyexpr~
|
~snake~ = ~pyexpr~
~pystmt~
|
self.~snake~ = ~snake~
|
if ~pyexpr~:
    ~pystmt~
|
if ~snake~ ~cmp~ ~pyexpr~:
    ~pystmt~
elif ~pyexpr~ and ~pyexpr~:
    ~pystmt~
else:
    ~pystmt~
|
for ~noun~ in ~snake~:
    ~pystmt~
|
for i, ~noun~ in enumerate(~snake~):
    ~pystmt~
|
while ~snake~ < ~number~:
    ~snake~ += 1
    ~pystmt~
|
try:
    ~pystmt~
except (ValueError, KeyError) as exc:
    raise ~Pascal~Error(f"could not ~verb~ {~noun~!r}") from exc
|
with open(~snake~, "r", encoding="utf-8") as file:
    ~pystmt~
|
print(f"~noun~ {~snake~:>~digit~} {~snake~.~noun~}")
|
assert ~pyexpr~ == ~pyexpr~, "~sentence~"
|
# ~sentence~
~snake~.append(~pyexpr~)
|
raise ValueError("~np~ is not ~adj~")
|
logger.info("~Verb~ %s ~nouns~", ~snake~)
|
~snake~: ~pytype~ = ~pyexpr~
|
import ~module~
from ~module~ import ~snake~, ~Pascal~
|
del ~snake~
continue

:: python
def ~snake~(~snake~: ~pytype~, ~snake~: ~pytype~ = ~pyexpr~) -> ~pytype~:
    ~doc~~Verb~ the ~np~ and ~verb~ it.~doc~
    ~pystmt~
    return ~pyexpr~
|
import ~module~
import ~module~ as ~noun~
from ~module~ import ~Pascal~


class ~Pascal~(~Pascal~):
    ~doc~~sentence~~doc~

    def __init__(self, ~snake~: ~pytype~) -> None:
        super().__init__()
        self.~snake~ = ~pyexpr~

    @property
    def ~snake~(self) -> ~pytype~:
        return self._~snake~
|
async def ~snake~(self, *args, **kwargs):
    ~noun~ = await self.~verb~(*args)
    ~pystmt~
|
@dataclass(frozen=True)
class ~Pascal~:
    ~snake~: ~pytype~
    ~snake~: ~pytype~ = field(default_factory=list)
|
if __name__ == "__main__":
    main()
|
def test_~snake~():
    ~pystmt~
    assert ~snake~(~pyexpr~) == ~pyexpr~
"""

QUERIES = r"""
:= sqlcond
~key~ = ~number~
~key~ = '~noun~'
~key~ ~cmp~ ~number~ AND ~sqlcond~
~key~ IS NOT NULL
~key~ LIKE '%~noun~%'
~key~ BETWEEN '~date~' AND '~date~'
~key~ IN (~number~, ~number~, ~number~) OR ~sqlcond~

:: sql
SELECT ~key~, ~key~ FROM ~snake~ WHERE ~sqlcond~;
|
SELECT COUNT(*) AS total, t.~key~
FROM ~snake~ AS t
LEFT JOIN ~snake~ AS u ON t.~key~ = u.id
WHERE ~sqlcond~
GROUP BY t.~key~
ORDER BY total DESC
LIMIT ~number~;
|
INSERT INTO ~snake~ (~key~, ~key~) VALUES ('~noun~', ~number~);
|
UPDATE ~snake~ SET ~key~ = '~noun~' WHERE ~sqlcond~;
|
CREATE TABLE IF NOT EXISTS ~snake~ (
    id INTEGER PRIMARY KEY,
    ~key~ TEXT NOT NULL,
    ~key~ VARCHAR(255) DEFAULT '~noun~',
    ~key~ TIMESTAMP
);
|
DELETE FROM ~snake~ WHERE ~sqlcond~;
|
select * from ~snake~ where ~key~ = ? order by ~key~ asc

:: shell
~verb~ --~kebab~ ~file~
|
cd /home/user/~noun~ && ls -la | grep "~noun~" > ~file~
|
export ~CONST~="~noun~"
|
git ~verb~ -m "~Verb~ the ~np~"
|
curl -X POST ~url~ -H "Content-Type: application/json" -d '{"~key~":~number~}'
|
for f in *.txt; do echo "$f"; done
|
if [ -f "$~CONST~" ]; then
  echo "~Verb~ the ~noun~..."
fi
|
sudo apt-get install -y ~kebab~
|
#!/bin/bash
set -e
python3 -m ~module~ --~kebab~=~number~ ~file~
|
cat ~file~ | sort | uniq -c | head -n ~number~ >/dev/null 2>&1 || exit 1
|
tar -xzf ~file~.tar.gz -C "$HOME/.~noun~" && rm -rf ./~noun~
|
docker run --rm -v $(pwd):/~noun~ -p ~number~:~number~ ~kebab~:latest
"""

RULES = PYTHON + QUERIES
