"""Scripts that find texts too small for a projector, or cut off; and the sizes of two projectors."""

from playwright.sync_api import ViewportSize

PROJECTORS: tuple[ViewportSize, ...] = ({"width": 1024, "height": 768}, {"width": 1280, "height": 720})
# All visible texts smaller than 18 px on the screen: texts of pages, charts and our components, and texts that were painted on
# canvases after `WATCH_CANVASES` ran.
SMALL = """() => {
    const least = 17.9;
    const small = [...window.painted ?? []].filter(([, size]) => size < least).map((painted) => painted.join());
    const leftOut = 'style, script, .katex-mathml, [data-testid="stSidebar"], [data-testid="stIconMaterial"]';
    const isSeen = (node) => node.nodeType === 3 && /[^\\s\u200b]/.test(node.textContent);
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            const words = [...element.childNodes].filter(isSeen);
            const box = element.getBoundingClientRect();
            if (!words.length || !element.checkVisibility() || box.width < 2 || box.height < 2) continue;
            if (element.closest(leftOut)) continue;
            const drawn = element instanceof SVGElement ? element.getScreenCTM() : null;
            const size = parseFloat(getComputedStyle(element).fontSize) * (drawn ? Math.hypot(drawn.b, drawn.d) : 1);
            if (size < least) small.push([element.tagName, words[0].textContent.trim().slice(0, 30), size].join());
        }
    };
    look(document.querySelector('.stMain'));
    return small;
}"""
# Texts that extend beyond the screen, outside of boxes that scroll, or beyond the edge of an element that cuts them off.
CUT_OFF = """() => {
    const cut = [];
    const isCut = (element, words) => {
        const range = document.createRange();
        range.selectNodeContents(words);
        const box = range.getBoundingClientRect();
        for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
            const {overflowX, overflowY, clipPath} = getComputedStyle(at);
            if (/auto|scroll/.test(overflowX + overflowY) || clipPath !== "none") return false;
            if (!/hidden|clip/.test(overflowX + overflowY)) continue;
            const edge = at.getBoundingClientRect();
            const over = Math.max(edge.left - box.left, box.right - edge.right, box.bottom - edge.bottom - 4);
            if (edge.width > 2 && over > 2) return true;
        }
        return false;
    };
    const scrolls = (element) => {
        for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
            if (/auto|scroll/.test(getComputedStyle(at).overflowX) && !at.matches('.stMain')) return true;
        }
        return false;
    };
    const leftOut = 'style, script, .katex-mathml, [data-testid="stSidebar"], [data-testid="stIconMaterial"]';
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            const words = [...element.childNodes].find((node) => node.nodeType === 3 && node.textContent.trim());
            const box = element.getBoundingClientRect();
            const isLong = element.scrollWidth > element.clientWidth + 1;
            if (element.matches('input') && box.width > 2 && isLong) cut.push(element.value);
            if (!words || !element.checkVisibility({visibilityProperty: true}) || box.width < 2 || box.height < 2) continue;
            if (element.closest(leftOut)) continue;
            const over = (box.left < -1 || box.right > innerWidth + 1) && !scrolls(element);
            if (over || isCut(element, words)) cut.push(element.textContent.slice(0, 40));
        }
    };
    look(document.querySelector('.stMain'));
    return cut;
}"""
