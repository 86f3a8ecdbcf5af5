// Draws components as SVG pictures, which export_menu.js saves.

import { themeColor } from "./compat.js";

/** The event that requests a picture. A component that can draw itself writes the picture into `detail`. @typedef {CustomEvent<{ svg: string }>} PictureEvent */

/** Left, top, width and height, in px. @typedef {[number, number, number, number]} Place */

/** @typedef {Record<string, string | number>} Attributes */

const EDGE = 16; // px around a saved picture
// A mixed colour, as browsers tell it, such as `color(srgb 1 0.5 0)`. Many programs that open a file do not know it.
const MIXED = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/;

/**
 * Answer each event "picture" at the root with an SVG.
 *
 * @param {HTMLElement} root
 * @param {() => string} draw
 */
export function answerWithPicture(root, draw) {
  root.addEventListener("picture", (event) => {
    /** @type {PictureEvent} */ (event).detail.svg = draw();
  });
}

/** An SVG of the contents of an element, on the background colour of the page. */
export class Sheet {
  /**
   * @param {HTMLElement} element
   * @param {number} above px of space above the element, for words that the page shows elsewhere
   */
  constructor(element, above = 0) {
    this.style = getComputedStyle(element);
    this.background = themeColor(element, "background-color") || "Canvas";
    this.box = element.getBoundingClientRect();
    this.above = above;
    /** @type {string[]} */
    this.parts = [];
  }

  /**
   * The place of an element or a range within the sheet.
   *
   * @param {Element | Range} part
   * @returns {Place}
   */
  place(part) {
    const { left, top, width, height } = part.getBoundingClientRect();
    return [left - this.box.left, top - this.box.top, width, height];
  }

  /**
   * @param {string} tag
   * @param {Attributes} attributes
   * @param {string} text
   */
  add(tag, attributes, text = "") {
    const pairs = Object.entries(attributes).map(([name, value]) => {
      const plain = String(value).replace(MIXED, (_, r, g, b) => `rgb(${[r, g, b].map((part) => Math.round(255 * part))})`);
      return ` ${name}="${escapeMarkup(plain)}"`;
    });
    this.parts.push(`<${tag}${pairs.join("")}>${escapeMarkup(text)}</${tag}>`);
  }

  /** @param {string} svg */
  raw(svg) {
    this.parts.push(svg);
  }

  /**
   * @param {Place} place
   * @param {Attributes} attributes
   */
  rect([x, y, width, height], attributes) {
    this.add("rect", { x, y, width, height, ...attributes });
  }

  /**
   * Add the picture of a canvas, with its cells as pixels.
   *
   * @param {HTMLCanvasElement} canvas
   * @param {Place} place
   */
  image(canvas, [x, y, width, height] = this.place(canvas)) {
    // A canvas with a pixel a cell is stretched to its place, as on the page.
    const stretched = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
    this.add("image", { x, y, width, height, href: canvas.toDataURL(), ...stretched });
  }

  /**
   * Add the words of a node at their place, in their own colour and size. Turned words that the page cuts are written narrower.
   *
   * @param {Node} node
   */
  write(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const words = node.textContent ?? "";
    if (!words.trim() || !range.getClientRects().length) return;
    const element = /** @type {Element} */ (node instanceof Element ? node : node.parentElement);
    const style = getComputedStyle(element);
    const turned = style.writingMode.startsWith("vertical") ? -90 : 0;
    const [left, top, width, height] = this.place(turned && element.scrollHeight > element.clientHeight ? element : range);
    const [length, high] = turned ? [height, width] : [width, height];
    // A saved picture does not contain the fonts of the app. A line keeps its length, so that words do not overlap in another font.
    if (turned || high < 2 * Number.parseFloat(style.fontSize)) {
      this.text(left + width / 2, top + height / 2, words, style, turned, length);
      return;
    }
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text = node instanceof Text ? node : texts.nextNode(); text; text = texts.nextNode()) {
      for (const { 0: word, index } of (text.textContent ?? "").matchAll(/\S+/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const [from, down, long, tall] = this.place(range);
        this.text(from + long / 2, down + tall / 2, word, style, 0, long);
      }
    }
  }

  /**
   * Add words with their middle at a point.
   *
   * @param {number} x
   * @param {number} y
   * @param {string} words
   * @param {CSSStyleDeclaration} style
   * @param {number} turned degrees
   * @param {number} length length of the words in px; 0 for the length that the font gives
   */
  text(x, y, words, style = this.style, turned = 0, length = 0) {
    const attributes = {
      x,
      y,
      "text-anchor": "middle",
      "dominant-baseline": "central",
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      fill: style.color,
      "xml:space": "preserve", // the space between words and what follows in bold
    };
    if (length) Object.assign(attributes, { textLength: length, lengthAdjust: "spacingAndGlyphs" });
    this.add("text", turned ? { ...attributes, transform: `rotate(${turned} ${x} ${y})` } : attributes, words);
  }

  svg() {
    const [width, height] = [Math.ceil(this.box.width) + 2 * EDGE, Math.ceil(this.box.height) + 2 * EDGE + this.above];
    const [left, top] = [-EDGE, -EDGE - this.above];
    const family = escapeMarkup(this.style.fontFamily);
    const size = `width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}"`;
    const ground = `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${escapeMarkup(this.background)}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${family}">${ground}${this.parts.join("")}</svg>`;
  }
}

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * A text escaped for markup, also within double quotes.
 *
 * @param {unknown} text
 */
export function escapeMarkup(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ENTITIES[sign]);
}
