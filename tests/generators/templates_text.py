"""Template rules from which `corpus` expands prose and markup.

A rule opens with a line `:= name`, each later line of it being one alternative, or with a line
`:: name`, its alternatives then spanning lines and being separated by a line holding a single
`|`.  `~slot~` stands for an expansion of the rule, or of the built-in slot, of that name.  Where
recursion has gone deep only the first alternative of a rule is used, so that one must be finite.
"""

from __future__ import annotations

PROSE = r"""
:= sentence
The ~np~ ~verbed~ the ~noun~ ~adverb~.
~name~ ~verbed~ ~a_np~ in ~city~ ~when~.
It is ~adj~ to ~verb~ the ~np~ before the ~noun~ ~verbs~.
We ~verbed~ ~number~ ~nouns~, but only ~number~ of them were ~adj~.
You can ~verb~ the ~np~ if you ~verb~ ~a_np~ first.
If the ~tech~ is ~adj~, then the ~tech~ will ~verb~ every ~tech~ in the ~np~.
I don't think that we should ~verb~ this ~noun~; it's not ~adj~ enough.
They've ~adverb~ ~verbed~ their ~nouns~ because there wasn't ~a_np~ for them.
"Would you like to ~verb~ the ~np~?" asked ~name~. "Yes, I'd love to," said ~name~.
~name~ and ~name~ were ~verbing~ the ~np~ when the ~noun~ ~verbed~ with ~a_np~.
This ~tech~ has been ~verbed~ from ~city~ to ~city~, which is why it ~verbs~ so ~adverb~.
~country~ has more than ~number~ ~nouns~, and most of these are ~adj~ or ~adj~.
What is the ~np~ of ~country~? How many ~nouns~ does the ~noun~ have?
However, ~a_np~ could ~verb~ the ~noun~ without ~verbing~ any other ~nouns~.
Each ~tech~ ~verbs~ its own ~tech~, so that no two ~techs~ can ~verb~ the same ~tech~.
The following ~techs~ are ~verbed~ ~adverb~: ~tech~, ~tech~, ~tech~ and ~tech~.
On ~month~ ~day~, ~year~, the ~org~ ~noun~ ~verbed~ ~a_np~ worth $~number~ million.
Although she ~verbed~ the ~noun~, he didn't ~verb~ until they'd ~verbed~ his ~np~.
First, ~verb~ the ~np~. Next, ~verb~ the ~noun~ between the ~nouns~ and the ~noun~. Then ~verb~.
There are ~number~ ways to ~verb~ ~a_np~, such as ~verbing~ the ~tech~ or ~verbing~ the ~noun~.
Here's an example of what the ~tech~ ~verbs~: it will ~verb~ all ~nouns~ that you've ~verbed~.
My ~noun~ isn't as ~adj~ as yours, but we're ~verbing~ it now; let's ~verb~ after ~weekday~.
Please ~verb~ your ~noun~ by ~weekday~ at ~clock~, or ~verb~ us at ~email~.
About ~number~% of ~nouns~ over the last ~number~ years were ~verbed~ under ~adj~ conditions.
Thank you for ~verbing~ our ~np~! I'm sorry, I can't help you with that ~noun~.

:= string_value
~noun~
~noun~
~noun~
~status~
~status~
~status~
~np~
~sentence~
~email~
~url~
~city~
~country~
~address~
~pystmt~
~file~
~foreign~

:= np
~noun~
~adj~ ~noun~
~tech~
~adj~ ~tech~
~adj~, ~adj~ ~noun~
~noun~'s ~noun~
~tech~ of the ~noun~

:= when
~adverb~
on ~weekday~
in ~month~ ~year~
at ~clock~
during the ~noun~
while the ~noun~ was ~verbing~

:: paragraph
~sentence~ ~sentence~ ~sentence~
|
~sentence~ ~sentence~ ~sentence~ ~sentence~ ~sentence~
|
~sentence~
|
User: ~sentence~
Assistant: ~sentence~ ~sentence~

:: markdown
# ~Noun~ ~tech~

~sentence~ ~sentence~

- **~Noun~**: ~sentence~
- **~Noun~**: ~sentence~

```python
~pystmt~
```
|
## ~Verb~ the `~snake~`

1. ~Verb~ the [~np~](~url~).
2. ~Verb~ `~file~` and ~verb~ the ~tech~.
3. ~sentence~

> **Note**: ~sentence~
|
### ~Adj~ ~techs~

| ~Noun~ | ~Tech~ | ~Tech~ |
|---|:---:|---:|
| ~noun~ | `~snake~` | ~number~ |
| ~noun~ | `~snake~` | ~number~ |

* ~sentence~
* *~adj~* ~noun~: see <~url~>.

---
|
```json
{"~key~": "~noun~", "~key~": ~number~}
```

```bash
$ ~shell~
```

- [ ] ~Verb~ the ~np~
- [x] ~Verb~ the ~np~ (~name~, ~date~)
"""

MARKUP = r"""
:: html
<div class="~kebab~">~Noun~ ~noun~</div>
|
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>~Noun~ ~noun~</title>
  <link rel="stylesheet" href="/~noun~/~tech~.css">
  <script src="~url~.js"></script>
</head>
<body>
  ~html~
  ~html~
</body>
</html>
|
<ul id="~kebab~">
  <li><a href="~url~">~Noun~</a></li>
  <li class="~adj~">~np~</li>
</ul>
|
<p>~sentence~ <strong>~noun~</strong> <em>~adj~</em><br/></p>
|
<form action="/~noun~/~verb~" method="post">
  <label for="~key~">~Tech~</label>
  <input type="text" name="~key~" value="~noun~" />
  <button type="submit">~Verb~</button>
</form>
|
<table>
  <tr><th>~Noun~</th><th>~Tech~</th></tr>
  <tr><td>~noun~</td><td>~number~</td></tr>
</table>
|
<h2>~Adj~ ~noun~</h2>
<img src="~file~" alt="~np~" width="~number~"> <span>&copy; ~year~ &amp; &lt;~noun~&gt;&nbsp;</span>

:: xml
<title>~noun~</title>
|
<description lang="en">~sentence~</description>
|
<value>~number~</value>
|
<?xml version="1.0" encoding="UTF-8"?>
<document xmlns="~url~">
  ~xml~
  ~xml~
</document>
|
<item id="~number~" ~key~="~noun~">
  <name>~name~</name>
  <price currency="USD">~decimal~</price>
  <date>~date~</date>
</item>
|
<~tech~ ~key~="~noun~" ~key~="~number~"/>
<!-- ~sentence~ -->

:: css
.~kebab~ {
  color: #~hex~;
  margin: 0 ~number~px;
  padding: ~digit~px ~digit~px;
}
|
#~kebab~, .~noun~:hover > a {
  display: flex;
  background-color: ~adj~;
  font-size: ~digit~em;
  border: 1px solid #~hex~;
  width: 100%;
}

:: config
~snake~ = ~number~
~snake~ = "~noun~"
|
[~tech~.~snake~]
~key~ = ["~noun~", "~noun~"]
~key~ = true
path = "/usr/local/share/~tech~/~file~"
|
~tech~:
  ~key~: ~noun~
  ~key~: ~number~
  items:
    - name: ~kebab~
      image: ~noun~:~version~
    - name: ~kebab~
  enabled: true
|
version: "~version~"
~CONST~=~noun~
~CONST~=~url~
# ~sentence~

:: csv
id,name,~key~,~key~
~number~,~name~,~noun~,~decimal~
~number~,~name~,~noun~,~decimal~
|
"~date~","~noun~","~number~"
"~date~","~noun~",""
|
~timestamp~,~number~,~decimal~,~status~
|
~key~;~key~;~key~
~uuid~;~number~;~status~
|
~name~	~city~	~country~	~number~

:: log
~timestamp~ ~level~ [~snake~] ~Verb~ ~np~: ~key~=~number~ ~key~="~noun~"
|
~date~ ~clock24~,~number~ - ~snake~ - ~level~ - ~sentence~
|
[~date~ ~clock24~] ~level~: ~address~ ~Verb~ ~url~ in ~number~ms
|
~address~ - - [~clock24~ +0000] "GET /~noun~/~number~ HTTP/1.1" 200 ~number~
~address~ - - [~clock24~ +0000] "POST /~noun~ HTTP/1.1" 404 ~number~
|
{"time":"~timestamp~","level":"~level~","msg":"~np~","id":"~uuid~"}
|
Traceback (most recent call last):
  File "/usr/lib/python3/~file~", line ~number~, in ~snake~
    ~pyexpr~
~Pascal~Error: ~np~

:: foreign_text
~foreign~ ~foreign~ ~foreign~ ~symbol~
|
~foreign~, ~foreign~ ~foreign~ ~foreign~. ~symbol~ ~noun~
|
~symbol~~symbol~ ~np~ ~symbol~ "~foreign~" (~foreign~)
|
~foreign~~foreign~~foreign~
"""

RULES = PROSE + MARKUP
