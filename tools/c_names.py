# SPDX-License-Identifier: Apache-2.0
"""Reads C well enough to tell which names a file defines and to rename them.

Not a compiler: it knows the form of this project's sources (declarations as
in the style guide, no macro that opens a bracket which it does not close).
What it misses, the compiler finds when the joined file is tested.
"""

import collections
import re

TOKEN = re.compile(r"""
      (?P<space>   \s+ | \\\n )
    | (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?P<string>  "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | (?P<name>    [A-Za-z_]\w* )
    | (?P<number>  \.?\d(?:[eEpP][+-]|[\w.])* )
    | (?P<mark>    -> | \.\.\. | . )
""", re.X | re.S)

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)

TAGS = {"struct", "union", "enum"}
# Names before a '(' that declare nothing.
NOT_DECLARED = {"__attribute__", "_Alignas", "_Static_assert", "__asm__",
                "__extension__", "sizeof", "_Atomic", "__typeof__"}

SHARED = ("tr_", "tare_")

Token = collections.namedtuple("Token", "kind text")


class Unreadable(Exception):
    pass


def tokens(text):
    return [Token(match.lastgroup, match.group())
            for match in TOKEN.finditer(text)]


# ---- which names a file defines ------------------------------------------


def code_tokens(text):
    """Without directives, comments and space."""
    text = DIRECTIVE.sub("", text)
    return [token for token in tokens(text)
            if token.kind not in ("space", "comment")]


def close_of(code, start):
    """Index of the bracket that closes the one at `start`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth = 0
    for index in range(start, len(code)):
        if code[index].text in pairs:
            depth += 1
        elif code[index].text in pairs.values():
            depth -= 1
            if depth == 0:
                return index
    raise Unreadable("brackets do not match")


def declarations(code):
    """Top-level declarations, each a list of tokens with its bodies."""
    current, index = [], 0
    while index < len(code):
        text = code[index].text
        if text in ("(", "[", "{"):
            end = close_of(code, index)
            current += code[index:end + 1]
            index = end + 1
            is_last = index >= len(code) or code[index].text not in (
                ";", ",", "=", "[")
            if text == "{" and is_last and is_function(current):
                yield current
                current = []
        elif text == ";":
            yield current
            current, index = [], index + 1
        else:
            current.append(code[index])
            index += 1


def outline(declaration):
    """The declaration up to '=', with each bracket pair as one token."""
    flat, index = [], 0
    while index < len(declaration):
        token = declaration[index]
        if token.text in ("(", "[", "{"):
            end = close_of(declaration, index)
            inner = declaration[index + 1:end]
            flat.append((token.text, inner))
            index = end
        else:
            flat.append((token.kind, token.text))
        index += 1
    return flat


def is_function(declaration):
    """Whether the body at its end is a function's."""
    flat = outline(declaration)
    return any(kind == "(" for kind, _ in flat) and \
        not any(text == "=" for _, text in flat if isinstance(text, str))


def tag_names(flat):
    """Tags and enumerators that a declaration defines, with their space."""
    for index, (kind, text) in enumerate(flat):
        if kind != "name" or text not in TAGS:
            continue
        rest = flat[index + 1:]
        if rest and rest[0][0] == "name":
            if len(rest) > 1 and rest[1][0] == "{":
                yield "tag", rest[0][1]
            rest = rest[1:]
        if text == "enum" and rest and rest[0][0] == "{":
            for name in enumerators(rest[0][1]):
                yield "plain", name


def enumerators(body):
    expected = True
    depth = 0
    for token in body:
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        elif token.text == "," and depth == 0:
            expected = True
        elif expected and token.kind == "name":
            yield token.text
            expected = False


def declared_names(flat):
    """Names of the functions, variables or types that it declares."""
    skip_to_comma = False
    for index, (kind, text) in enumerate(flat):
        if kind == "mark" and text == ",":
            skip_to_comma = False
        elif kind == "mark" and text == "=":
            skip_to_comma = True
        if skip_to_comma:
            continue
        follower = flat[index + 1] if index + 1 < len(flat) else ("end", "")
        if kind == "(":
            yield from pointer_name(text, follower)
        elif kind == "name" and text not in NOT_DECLARED:
            if is_declarator(flat, index, follower):
                yield text


def pointer_name(inner, follower):
    """The name in `(*name)(...)`."""
    names = [token.text for token in inner if token.kind == "name"]
    if inner and inner[0].text == "*" and names and follower[0] == "(":
        yield names[-1]


def is_declarator(flat, index, follower):
    before = flat[index - 1] if index else ("name", "enum")
    if before[0] == "name" and before[1] in TAGS:
        return False
    if follower[0] == "(":
        inner = follower[1]
        return not (inner and inner[0].text == "*") and \
            not flat[index][1].isupper()
    return follower[0] in ("[", "end") or follower[1] in ("=", ",") or \
        follower[1] == "__attribute__"


def defined_names(text):
    """All names of file scope that `text` defines for itself.

    Pairs of name space ("tag" or "plain": `struct x` and `x` are two things)
    and name. A name without the library's prefix is the file's own even if
    `static` is not to be seen, since a macro may stand for it.
    """
    found = set()
    for declaration in declarations(code_tokens(text)):
        flat = outline(declaration)
        found.update(tag_names(flat))
        words = [word for kind, word in flat if kind == "name"]
        is_own = "static" in words or "typedef" in words
        if "extern" not in words:
            found.update(("plain", name) for name in declared_names(flat)
                         if is_own or not name.startswith(SHARED))
    return found


def field_names(text):
    """Names inside bodies of structs and unions, tags aside."""
    code = code_tokens(text)
    found = set()
    for index, token in enumerate(code):
        if token.text not in ("struct", "union"):
            continue
        start = index + 1
        if start < len(code) and code[start].kind == "name":
            start += 1
        if start >= len(code) or code[start].text != "{":
            continue
        body = code[start:close_of(code, start)]
        for before, field in zip(body, body[1:]):
            if field.kind == "name" and before.text not in TAGS:
                found.add(field.text)
    return found


# ---- renaming --------------------------------------------------------------


def renamed(text, names, ending, fields):
    """`text` with `names` given an ending.

    A member of a struct keeps its name unless the struct is of this file:
    `fields` has the names that members of this file's structs bear.
    """
    out, before = [], ""
    for token in tokens(text):
        word = token.text
        if token.kind == "name" and word in names:
            if before not in (".", "->") or word in fields:
                word += ending
        out.append(word)
        if token.kind not in ("space", "comment"):
            before = token.text
    return "".join(out)
