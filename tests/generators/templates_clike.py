"""Template rules for C and its relatives; the notation is described in `templates_text`."""

from __future__ import annotations

RULES = r"""
:= cexpr
~snake~
~number~
NULL
~snake~->~snake~
~snake~[i]
~snake~(~cexpr~, &~snake~)
(~cexpr~ + ~cexpr~)
sizeof(*~noun~)
"~noun~ %d\n"
'\0'
0x~hex~

:: cstmt
~snake~ = ~cexpr~;
|
return ~cexpr~;
|
if (~cexpr~ ~cmp~ ~cexpr~) {
    ~cstmt~
}
|
for (int i = 0; i < ~snake~; i++) {
    ~cstmt~
}
|
while (*~noun~ != '\0') {
    ~cstmt~
    ~noun~++;
}
|
if (!~snake~) {
    fprintf(stderr, "~np~: %s\n", ~snake~);
    return -1;
} else {
    ~cstmt~
}
|
switch (~snake~) {
    case ~CONST~:
        ~cstmt~
        break;
    default:
        break;
}
|
~ctype~ ~snake~ = ~cexpr~;
~cstmt~
|
/* ~sentence~ */
free(~snake~);

:= ctype
int
const char *
size_t
uint32_t
struct ~snake~ *
unsigned char
double

:: clang
static ~ctype~ ~snake~(~ctype~ ~noun~, ~ctype~ ~snake~)
{
    ~cstmt~
    ~cstmt~
    return 0;
}
|
#include <stdio.h>
#include "~snake~.h"

#define ~CONST~ ~number~
|
typedef struct {
    ~ctype~ ~snake~;
    ~ctype~ ~snake~;
} ~snake~_t;
|
#ifdef ~CONST~
extern void ~snake~(void);
#endif
|
pub fn ~snake~(&mut self, ~snake~: &str) -> Result<~Pascal~, Error> {
    let mut ~snake~ = Vec::new();
    match ~snake~ {
        Some(~noun~) => Ok(~noun~.unwrap()),
        None => Err(~Pascal~::new()),
    }
}
|
public class ~Pascal~ extends ~Pascal~ {
    private final String ~camel~;

    public void set~Pascal~(int ~camel~) throws Exception {
        this.~camel~ = ~camel~;
    }
}
|
if(!~noun~||~snake~==NULL&&~noun~>=~digit~){~noun~<<=~digit~;return ~snake~!=0;}
|
func (s *~Pascal~) ~Pascal~(ctx context.Context) (string, error) {
	if err != nil {
		return "", fmt.Errorf("~verb~ ~noun~: %w", err)
	}
	return ~camel~, nil
}

:= jsexpr
~camel~
~number~
'~noun~'
"~noun~"
this.~camel~
~camel~.~verb~(~jsexpr~)
~camel~.map((~noun~) => ~jsexpr~)
`~noun~ ${~camel~}`
{ ~camel~: ~jsexpr~, ~camel~ }
[~jsexpr~, ~jsexpr~]
await ~camel~(~jsexpr~)
~jsexpr~ ?? null
~jsexpr~ ? ~jsexpr~ : undefined
new ~Pascal~()

:: jsstmt
const ~camel~ = ~jsexpr~;
|
return ~jsexpr~;
|
let ~camel~ = ~jsexpr~;
~jsstmt~
|
if (~camel~ === ~jsexpr~) {
  ~jsstmt~
}
|
if (!~camel~ || ~jsexpr~) {
  throw new Error('~np~ is not ~adj~');
} else {
  ~jsstmt~
}
|
for (const ~noun~ of ~camel~) {
  ~jsstmt~
}
|
console.log(~jsexpr~);
|
try {
  ~jsstmt~
} catch (err) {
  console.error(err);
}
|
document.getElementById('~kebab~').addEventListener('click', () => {
  ~jsstmt~
});

:: javascript
var ~camel~=function(e,t){if(e==null||t!=="~noun~"&&!e.~noun~){return{};}return t.~camel~(e)};
|
let ~noun~={},~camel~=~noun~.map(e=>e.~noun~).filter(t=>{return t==~digit~});
|
$(function(){~camel~.on("~noun~",function(e){e.~verb~();});});
|
function ~camel~(~camel~, ~camel~) {
  ~jsstmt~
  return ~jsexpr~;
}
|
import { ~camel~, ~Pascal~ } from './~noun~';
import ~Pascal~ from "~kebab~";

export default function ~Pascal~({ ~camel~ }) {
  ~jsstmt~
  return <div className="~kebab~">{~camel~}</div>;
}
|
export const ~camel~ = async (~camel~) => {
  ~jsstmt~
};
|
export interface ~Pascal~ {
  ~camel~: string;
  ~camel~?: number;
  readonly ~camel~: ~Pascal~[];
}
|
const ~camel~ = require('~noun~');
// ~sentence~
module.exports = { ~camel~, ~camel~ };
"""
