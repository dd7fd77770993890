"""Small SVG: a picture of matplotlib's in a fifth of the bytes, without what nobody sees.

matplotlib writes a group for each part, six digits for each coordinate, each point of a curve, and each text glyph by glyph. Here a
word is defined once and used again, lines of one style are one path, coordinates are relative and rounded to a hundredth of a point, and
points that a curve passes anyway are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree

import numpy as np

_SVG = "http://www.w3.org/2000/svg"
_HREF = "href"
_Word = tuple[tuple[str, int], ...]
# in points: a point of a curve that is nearer to the line without it is not seen
_UNSEEN = 0.05
# a glyph's outline is in 64ths of a hundredth of the font's size; twenty of those are not seen
_OUTLINE, _ROUNDED_OUTLINE = "scale(0.015625)", "scale(.3125)"


def small_svg(svg: str) -> str:
    """svg: of matplotlib, from `<svg` on. The same picture in fewer bytes."""
    ElementTree.register_namespace("", _SVG)
    # SVG 2 knows it without the namespace, as all browsers do
    root = ElementTree.fromstring(svg.replace("xlink:href=", "href="))
    for parent in list(root.iter()):
        parent.text, parent.tail = parent.text if parent.tag == f"{{{_SVG}}}style" else None, None
    _unwrap(root, set(re.findall(r"#([\w-]+)", svg)))
    for element in root.iter():
        _shorten(element)
    _share_words(root)
    _draw_marks(root)
    for parent in [root, *root.iter(f"{{{_SVG}}}g")]:
        if parent.get("id", "").startswith("matplotlib.axis"):
            # nothing of an axis lies on another part of it: grid, ticks and labels may be drawn kind by kind
            parent[:] = sorted(parent, key=lambda child: (child.tag != f"{{{_SVG}}}defs", child.get("style", ""), child.tag))
        _merge(parent)
        _hoist(parent)
    _rename(root)
    return re.sub(r" />", "/>", ElementTree.tostring(root, encoding="unicode")).replace("><", ">\n<")


def _unwrap(parent: ElementTree.Element, used: set[str]) -> None:
    """Groups that hold no more than a name to which nothing refers give way to what is in them; axes keep theirs."""
    children: list[ElementTree.Element] = []
    for child in parent:
        _unwrap(child, used)
        name = child.get("id", "")
        if name and name not in used and not name.startswith("matplotlib.axis"):
            del child.attrib["id"]
        bare = child.tag == f"{{{_SVG}}}g" and not child.attrib
        children += list(child) if bare else [child]
    parent[:] = children


def _shorten(element: ElementTree.Element) -> None:
    if path := element.get("d"):
        outline = element.get("transform") == _OUTLINE
        element.set("d", _relative(path, 0.05, 0) if outline else _relative(_thinned(path), 1, 1 if len(path) > 300 else 2))
        if outline:
            element.set("transform", _ROUNDED_OUTLINE)
    elif element.tag == f"{{{_SVG}}}use" and (shift := re.fullmatch(r"translate\((\S+) 0\)", element.get("transform", ""))):
        del element.attrib["transform"]
        element.set("x", f"{float(shift[1]):.0f}")
    for name in ("x", "y", "width", "height", "transform"):
        if value := element.get(name):
            element.set(name, re.sub(r"-?\d+\.\d{3,}", lambda found: _number(float(found[0]), 2), value))


def _share_words(root: ElementTree.Element) -> None:
    """A word that stands in several places is defined in the first; spaces are not drawn."""
    blank = {f"#{path.get('id')}" for path in root.iter(f"{{{_SVG}}}path") if path.get("id") and not path.get("d")}
    texts = [(group, words) for group in root.iter(f"{{{_SVG}}}g") if (words := list(_words(group, blank)))]
    count = Counter(word for _, words in texts for _, word in words)
    seen: dict[_Word, str] = {}
    for group, words in texts:
        children = [child for child in group if child.tag != f"{{{_SVG}}}use"]
        for at, word in words:
            glyphs = [ElementTree.Element(f"{{{_SVG}}}use", {_HREF: name, **_at(x)}) for name, x in word]
            if len(word) == 1 or count[word] == 1:
                for glyph, (_, x) in zip(glyphs, word, strict=True):
                    glyph.attrib |= _at(at + x)
                children += glyphs
            elif word in seen:
                children.append(ElementTree.Element(f"{{{_SVG}}}use", {_HREF: f"#{seen[word]}", **_at(at)}))
            else:
                seen[word] = f"word{len(seen)}"
                shared = ElementTree.Element(f"{{{_SVG}}}g", {"id": seen[word]})
                shared[:] = glyphs
                if at:
                    around = ElementTree.Element(f"{{{_SVG}}}g", {"transform": f"translate({at})"})
                    around.append(shared)
                    shared = around
                children.append(shared)
        if len(children) == 1 and not {"x", "transform"} & children[0].attrib.keys() and children[0].tag == f"{{{_SVG}}}use":
            group.tag, group.attrib = children[0].tag, group.attrib | children[0].attrib
            children = []
        group[:] = children


def _words(group: ElementTree.Element, blank: set[str]) -> Iterator[tuple[int, _Word]]:
    """The words of a text: where each begins, and its glyphs with their places from there."""
    glyphs = [(name, int(child.get("x", "0"))) for child in group if "DejaVu" in (name := child.get(_HREF, ""))]
    for space, word in groupby(glyphs, key=lambda glyph: glyph[0] in blank):
        if not space:
            placed = list(word)
            yield placed[0][1], tuple((name, x - placed[0][1]) for name, x in placed)


def _at(x: int) -> dict[str, str]:
    return {"x": str(x)} if x else {}


def _draw_marks(root: ElementTree.Element) -> None:
    """A mark that is a straight line, such as a tick, is drawn where it stands instead of being referred to."""
    marks = {
        f"#{mark.get('id')}": mark for mark in root.iter(f"{{{_SVG}}}path") if re.fullmatch(r"M\S+ ?\S*[hv][^a-z]+", mark.get("d", ""))
    }
    for use in list(root.iter(f"{{{_SVG}}}use")):
        if (mark := marks.get(use.get(_HREF, ""))) is not None and mark.get("id"):
            x, y, line = re.findall(r"M(-?[\d.]+) ?(-?[\d.]+)(.*)", mark.attrib["d"])[0]
            at = [_number(float(use.attrib.pop(axis)) + float(of), 2) for axis, of in (("x", x), ("y", y))]
            style = "fill: none; " + re.sub(r"fill: [^;]*(; )?", "", use.get("style", mark.get("style", "")))
            use.tag, use.attrib = f"{{{_SVG}}}path", {"d": f"M{' '.join(at)}{line}".replace(" -", "-"), "style": style}


def _merge(parent: ElementTree.Element) -> None:
    """Paths behind one another that differ in nothing but their points are one."""

    def alike(child: ElementTree.Element) -> tuple[object, ...]:
        alone = child.tag != f"{{{_SVG}}}path" or "opacity" in child.get("style", "") or {"id", "transform"} & child.attrib.keys()
        return (id(child),) if alone else (child.get("style"), child.get("clip-path"))

    merged = []
    for _, group in groupby(parent, key=alike):
        first, *rest = group
        for other in rest:
            first.set("d", first.attrib["d"] + other.attrib["d"].replace("m", "M", 1))
        merged.append(first)
    parent[:] = merged


def _hoist(parent: ElementTree.Element) -> None:
    """Parts behind one another that have the same style get it from a group."""
    hoisted: list[ElementTree.Element] = []
    for style, group in groupby(parent, key=lambda child: child.get("style")):
        children = list(group)
        if style and len(children) > 1:
            for child in children:
                del child.attrib["style"]
            around = ElementTree.Element(f"{{{_SVG}}}g", {"style": style})
            around[:] = children
            children = [around]
        hoisted += children
    parent[:] = hoisted


def _rename(root: ElementTree.Element) -> None:
    """Short names for what is referred to, none for what is not."""
    text = ElementTree.tostring(root, encoding="unicode")
    short = {name: f"a{k}" for k, name in enumerate(dict.fromkeys(re.findall(r'(?:href="|url\()#([\w-]+)', text)))}
    for element in root.iter():
        if name := element.attrib.pop("id", None):
            element.attrib.update({"id": short[name]} if name in short else {})
        for key, value in element.attrib.items():
            if key in (_HREF, "clip-path"):
                element.set(key, re.sub(r"#([\w-]+)", lambda found: f"#{short[found[1]]}", value))
    for parent in list(root.iter()):
        parent[:] = [child for child in parent if child.tag != f"{{{_SVG}}}defs" or _defines(child)]


def _defines(definitions: ElementTree.Element) -> bool:
    """Whether anything is left in them that can be referred to; the rest is taken out."""
    definitions[:] = [child for child in definitions if child.get("id") or child.tag == f"{{{_SVG}}}style"]
    return len(definitions) > 0


def _number(value: float, digits: int) -> str:
    """Without zeros that say nothing: 3, -.25."""
    return re.sub(r"^(-?)0(?=\.)", r"\1", f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}")


def _relative(path: str, scale: float, digits: int) -> str:
    """The path with coordinates from point to point; they are rounded before they are subtracted, so that no error adds up."""
    out, here, start, unit = "", (0, 0), (0, 0), 10**digits
    for command, points in _commands(path):
        rounded = [(round(x * scale * unit), round(y * scale * unit)) for x, y in points]
        # a beginning is absolute: behind another path it stays where it is
        origin = (0, 0) if command == "M" else here
        steps = [_number((value - by) / unit, digits) for point in rounded for value, by in zip(point, origin, strict=True)]
        if command == "M":
            out, start = f"{out}M{' '.join(steps)}", rounded[0]
        elif command == "z":
            out += "z"
        elif command == "L" and "0" in steps:
            out += ("h" + steps[0] if steps[1] == "0" else "v" + steps[1]) if steps != ["0", "0"] else ""
        else:
            out += command.lower() + " ".join(steps)
        here = start if command == "z" else rounded[-1]
    return out.replace(" -", "-")


def _commands(path: str) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """(M, L, Q, C or z, its points) of a path in absolute coordinates."""
    for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", path):
        values = [float(word) for word in numbers.split()]
        yield command, list(zip(values[::2], values[1::2], strict=True))


def _thinned(path: str) -> str:
    """Of a path of straight lines the points that are seen; any other as it is."""
    if re.search(r"[QC]", path):
        return path
    parts = []
    for part in re.findall(r"M[^M]*", path):
        points = np.array([point for _, of_command in _commands(part) for point in of_command])
        kept = " L ".join(f"{x} {y}" for x, y in points[_seen(points)].tolist())
        parts.append(f"M {kept}{' z' if 'z' in part else ''}")
    return " ".join(parts)


def _seen(points: np.ndarray) -> np.ndarray:
    """Which points of a curve are farther than `_UNSEEN` from the curve without them (Douglas & Peucker 1973)."""
    kept = np.zeros(len(points), dtype=bool)
    kept[[0, -1]] = True
    parts = [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        along, away = points[last] - points[first], points[first + 1 : last] - points[first]
        if length := float(np.hypot(*along)):
            away = away - np.clip(away @ along / length**2, 0, 1)[:, None] * along
        distance = np.hypot(*away.T)
        if distance.max() > _UNSEEN:
            middle = first + 1 + int(distance.argmax())
            kept[middle] = True
            parts += [(first, middle), (middle, last)]
    return kept
