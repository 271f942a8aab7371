"""Line charts as SVG, legible on light and on dark backgrounds.

All colours are of a middle brightness, so there is no second palette: a picture may be shown on a dark page
to a reader whose system is light.
"""

import math
from xml.sax.saxutils import escape

LIGHT, DARK = "#ffffff", "#0d1117"
INK = "#7d8590"
GRID = "#7d859055"
# name: (colour, dashes, marker)
LOOKS = {
    "packed": ("#1f9d55", "", "circle"),
    "packed-protobuf": ("#1f9d55", "3 3", "circle"),
    "lean": ("#2f81f7", "", "circle"),
    "lean-protobuf": ("#2f81f7", "3 3", "circle"),
    "typed": ("#a371f7", "", "circle"),
    "full": ("#a371f7", "3 3", "circle"),
    "metadata": ("#c2488f", "", "circle"),
    "received": ("#7d8590", "", "circle"),
    "received-protobuf": ("#7d8590", "3 3", "circle"),
    "received-plainly": ("#7d8590", "7 4", "square"),
    "received-plainly-protobuf": ("#7d8590", "2 4", "square"),
    "kube-rs": ("#d2691e", "7 4", "square"),
    "client-go": ("#0e8fa6", "2 4", "diamond"),
    "client-go-protobuf": ("#0e8fa6", "7 4", "diamond"),
}
WIDTH, HEIGHT = 740, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 52, 52


def chart(title, unit, series):
    """`series` is {name: [(objects, value), …]}. Both axes are logarithmic."""
    points = [point for line in series.values() for point in line]
    sizes = sorted({size for size, _ in points})
    low, high = bounds([value for _, value in points])
    x_low, x_high = math.log(sizes[0]), math.log(sizes[-1])

    def x(size):
        share = (math.log(size) - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 24)

    def y(value):
        share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<text x="{LEFT}" y="22" fill="{INK}" font-size="16" font-weight="600">{escape(title)}</text>',
        f'<text x="{LEFT}" y="40" fill="{INK}">{escape(unit)}; less is better; solid lines are ours; both axes are logarithmic</text>',
    ]
    for value in ticks(low, high):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{GRID}"/>')
        out.append(text(LEFT - 8, y(value) + 4, shown(value), "end"))
    for size in sizes:
        out.append(text(x(size), HEIGHT - BOTTOM + 20, f"{size:,}", "middle"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "objects", "middle"))
    ends = {}
    for name, line in series.items():
        colour, dashes, marker = LOOKS.get(name, (INK, "", "circle"))
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in line)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dash}/>')
        for size, value in line:
            out.append(mark(marker, x(size), y(value), colour))
        ends[name] = y(line[-1][1])
    for name, at in apart(ends, 17, TOP, HEIGHT - BOTTOM).items():
        colour = LOOKS.get(name, (INK,))[0]
        last = series[name][-1][1]
        out.append(text(WIDTH - RIGHT + 8, at + 4, f"{name} {shown(last)}", "start", colour, "600"))
    out.append("</svg>")
    return "\n".join(out) + "\n"


def text(x, y, words, anchor, colour=INK, weight="400"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )


def mark(shape, x, y, colour):
    if shape == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    if shape == "diamond":
        corners = f"{x:.1f},{y - 5.5:.1f} {x + 5.5:.1f},{y:.1f} {x:.1f},{y + 5.5:.1f} {x - 5.5:.1f},{y:.1f}"
        return f'<polygon points="{corners}" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'


def bounds(values):
    """A range that ends at ticks and holds all values, more than one tick apart."""
    values = [value for value in values if value > 0] or [1]
    low, high = tick_below(min(values)), tick_above(max(values))
    return (low, high) if high > low else (low, tick_above(low * 1.01))


def steps():
    for exponent in range(-6, 13):
        for digit in (1, 2, 5):
            yield digit * 10.0**exponent


def tick_below(value):
    return max(step for step in steps() if step <= value * 1.000001)


def tick_above(value):
    return min(step for step in steps() if step >= value * 0.999999)


def ticks(low, high):
    found = [step for step in steps() if low * 0.999 <= step <= high * 1.001]
    # Over many decades, full powers of ten are enough.
    if len(found) > 10:
        found = [step for step in found if f"{step:e}"[0] == "1"]
    return found


def shown(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def apart(places, gap, top, bottom):
    """Moves labels so that they do not overlap, in their order."""
    order = sorted(places, key=places.get)
    at = [places[name] for name in order]
    for _ in range(100):
        for number in range(1, len(at)):
            missing = gap - (at[number] - at[number - 1])
            if missing > 0:
                at[number - 1] -= missing / 2
                at[number] += missing / 2
        if at:
            at[0] = max(at[0], top)
            at[-1] = min(at[-1], bottom)
    return dict(zip(order, at))


def contrast(colour, background):
    """The contrast of two colours, as WCAG defines it."""

    def luminance(hexadecimal):
        def linear(part):
            part /= 255
            return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

        red, green, blue = (linear(int(hexadecimal[at : at + 2], 16)) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    one, other = sorted((luminance(colour), luminance(background)), reverse=True)
    return (one + 0.05) / (other + 0.05)
