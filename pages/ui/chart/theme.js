// The theme of the page for a figure: its letters, its ink and its lines. Plotly's own template keeps the colours of the data.

const SMALL = 12; // px of a tick, a legend and a hover label
const LARGE = 14; // px of the title of an axis or a colour bar

/**
 * The colours and letters of the page. Streamlit sets them as CSS variables. `scale` is the size of the page's letters compared
 * with ordinary ones.
 *
 * @param {Element} element
 */
export function themeOf(element) {
  const style = getComputedStyle(element);
  return {
    ink: style.color,
    page: style.getPropertyValue("--st-background-color"),
    family: style.fontFamily,
    scale: Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
  };
}

/**
 * A layout in the theme of the page. What the layout itself sets stays, except colours: a figure's own ink is black.
 *
 * @param {Record<string, any>} layout not changed
 * @param {ReturnType<typeof themeOf>} theme
 * @returns {Record<string, any>}
 */
export function themed(layout, { ink, page, family, scale }) {
  const small = { color: ink, size: SMALL * scale };
  const large = { color: ink, size: LARGE * scale };
  const [red, green, blue] = ink.match(/[\d.]+/g) ?? [];
  const line = `rgba(${red}, ${green}, ${blue}, 0.18)`; // Plotly does not know `color-mix`
  const axis = {
    automargin: true,
    gridcolor: line,
    ticks: "",
    zerolinecolor: line,
    // The rows and columns that ticks name have sizes in px, so the ticks do not grow with the page.
    tickfont: { color: ink, size: SMALL },
    ticklabelposition: "outside",
  };
  const bar = { thickness: 16, len: 0.75, y: 0.5745, outlinewidth: 0, tickfont: small, title: { font: large } };
  const template = {
    font: { color: ink, family, size: SMALL },
    title: { x: 0, xanchor: "left", pad: { l: 4 }, font: { color: ink, size: LARGE * scale } },
    margin: { pad: 8 * scale, l: 0, r: 0 },
    modebar: { bgcolor: "transparent", color: line, activecolor: ink },
    legend: { bgcolor: "transparent", font: small, title: { font: small } },
    hoverlabel: { bgcolor: page, bordercolor: line, font: { ...small, family } },
    coloraxis: { colorbar: bar },
    xaxis: { ...axis, showgrid: false, zeroline: false, title: { font: large, standoff: 16 } },
    yaxis: { ...axis, title: { font: large, standoff: 24 } },
  };
  const own = layout.template ?? {};
  const merged = Object.entries(template).map(([part, words]) => [part, { ...own.layout?.[part], ...words }]);
  return { ...layout, template: { ...own, layout: { ...own.layout, ...Object.fromEntries(merged) } } };
}
