// Shared by components that can be saved as a picture, see `saving`.

// The root is sent an event "picture" and answers with an SVG in its detail.

export function answerWithPicture(root, draw) {
  root.addEventListener("picture", (event) => (event.detail.svg = draw()));
}

const EDGE = 16; // px around a saved picture

// An SVG of what stands within an element, on the colour of the page; its parts are placed by `drawn`.
export class Sheet {
  // `above`: px of room over the element, for what the page shows elsewhere.
  constructor(element, above = 0) {
    this.style = getComputedStyle(element);
    this.box = element.getBoundingClientRect();
    this.above = above;
    this.parts = [];
  }

  // Where an element or a range is: left, top, width, height.
  place(of) {
    const { left, top, width, height } = of.getBoundingClientRect();
    return [left - this.box.left, top - this.box.top, width, height];
  }

  add(tag, attributes, text = "") {
    const said = Object.entries(attributes).map(([name, value]) => ` ${name}="${safe(value)}"`);
    this.parts.push(`<${tag}${said.join("")}>${safe(text)}</${tag}>`);
  }

  raw(svg) {
    this.parts.push(svg);
  }

  rect([x, y, width, height], attributes) {
    this.add("rect", { x, y, width, height, ...attributes });
  }

  // The words of an element, or of a node within it, where they stand, in its own colour and size.
  write(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    if (!node.textContent.trim() || !range.getClientRects().length) return;
    const [left, top, width, height] = this.place(range);
    const style = getComputedStyle(node.nodeType === Node.TEXT_NODE ? node.parentElement : node);
    const turned = style.writingMode.startsWith("vertical") ? -90 : 0;
    this.text(left + width / 2, top + height / 2, node.textContent, style, turned);
  }

  // Words around a point.
  text(x, y, says, style = this.style, turned = 0) {
    this.add("text", {
      x,
      y,
      "text-anchor": "middle",
      "dominant-baseline": "central",
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      fill: style.color,
      ...(turned ? { transform: `rotate(${turned} ${x} ${y})` } : {}),
    }, says);
  }

  svg() {
    const [width, height] = [Math.ceil(this.box.width) + 2 * EDGE, Math.ceil(this.box.height) + 2 * EDGE + this.above];
    const [left, top] = [-EDGE, -EDGE - this.above];
    const family = safe(this.style.fontFamily);
    const page = safe(this.style.getPropertyValue("--st-background-color") || "white");
    const size = `width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}"`;
    const ground = `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${page}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${family}">${ground}${this.parts.join("")}</svg>`;
  }
}

function safe(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}

