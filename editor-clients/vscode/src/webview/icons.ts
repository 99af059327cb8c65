/** Icons of 16 by 16 pixels, drawn with lines of the text's colour. */

const PATHS = {
  add: "M8 3v10M3 8h10",
  agent: "M4 5.500h8a1.500 1.500 0 0 1 1.500 1.500v4.500A1.500 1.500 0 0 1 12 13H4a1.500 1.500 0 0 1-1.500-1.500V7A1.500 1.500 0 0 1 4 5.500zM8 5.500v-3M6 8.500v1M10 8.500v1",
  arrowDown: "M8 3v9.500M4 8.500l4 4 4-4",
  arrowUp: "M8 13V3.500M4 7.500l4-4 4 4",
  at: "M10.500 8a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM10.500 5.500v3.250a1.500 1.500 0 0 0 3 0V8A5.500 5.500 0 1 0 11 12.600",
  check: "M3 8.500l3.500 3.500L13 4.500",
  chevron: "M6 4l4 4-4 4",
  chevronDown: "M4 6l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 5.500h6.500v8H6zM10 5.500v-3H3.500v8H6",
  diff: "M8 3v6M5 6h6M5 12.500h6",
  edit: "M10.500 3l2.500 2.500L6 12.500l-3 .500.500-3zM9 4.500L11.500 7",
  error: "M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11zM6 6l4 4M10 6l-4 4",
  file: "M4 2.500h5L12.500 6v7.500H4zM9 2.500V6h3.500",
  folder: "M2.500 4h4L8 5.500h5.500V12.500h-11z",
  globe: "M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11zM2.500 8h11M8 2.500c3 3.500 3 7.500 0 11M8 2.500c-3 3.500-3 7.500 0 11",
  history: "M3 8a5 5 0 1 0 1.500-3.600M2.750 2.500v2.500h2.500M8 5v3l2 1.500",
  image: "M2.500 3.500h11v9h-11zM2.500 11l3-3 2.500 2.500 2-2 3.500 3M10.500 6h.010",
  mode: "M8 2.250l4.500 1.750v3.500c0 3-2 5-4.500 6.250-2.500-1.250-4.500-3.250-4.500-6.250V4z",
  model: "M8 2.250l1.400 4.350L13.750 8 9.400 9.400 8 13.750 6.600 9.400 2.250 8 6.600 6.600z",
  pending: "M8 3.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z",
  question: "M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11zM6.300 6.500a1.700 1.700 0 1 1 2.500 1.600c-.600.300-.800.600-.800 1.150M8 11h.010",
  queue: "M3 4h10M3 8h6M3 12h6M12.500 8v5M10.500 11l2 2 2-2",
  read: "M2.500 3.500c2-.700 4-.500 5.500.500 1.500-1 3.500-1.200 5.500-.500v9c-2-.700-4-.500-5.500.500-1.500-1-3.500-1.200-5.500-.500zM8 4v9",
  retry: "M13 8a5 5 0 1 1-1.500-3.600M13.250 2.500v2.500h-2.500",
  search: "M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM10.300 10.300l3.200 3.200",
  selection: "M3 4h10M3 8h10M3 12h6",
  sessions: "M2.500 3.500h8v6h-4L4 11.500v-2H2.500zM12 6h1.500v6H12v1.500L9.500 12H7.500",
  shield: "M8 2.250l4.500 1.750v3.500c0 3-2 5-4.500 6.250-2.500-1.250-4.500-3.250-4.500-6.250V4zM8 5.500v3M8 10.700h.010",
  stop: "M4.500 4.500h7v7h-7z",
  stopped: "M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11zM4.200 4.200l7.600 7.600",
  subtask: "M5 3v7a2 2 0 0 0 2 2h5M5 6h7M10 4l2 2-2 2M10 10l2 2-2 2",
  terminal: "M3 5l3 3-3 3M8 11.500h5",
  thought: "M8 2.500a4 4 0 0 1 2.300 7.300c-.500.400-.800.900-.800 1.400h-3c0-.500-.300-1-.800-1.400A4 4 0 0 1 8 2.500zM6.750 13.500h2.500",
  todo: "M2.500 4.500l1 1 2-2M2.500 10.500l1 1 2-2M8 4.500h5.500M8 10.500h5.500",
  tool: "M10 2.700a3.500 3.500 0 0 0-3 4.800L2.700 11.700l1.600 1.600L8.500 9a3.500 3.500 0 0 0 4.800-4.200L11.200 6.900 9.100 6.500 8.800 4.500z",
  warning: "M8 2.500l6 11H2zM8 6.500v3.250M8 11.700h.010",
} as const;

export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";

/** An icon; it says nothing to screen readers, the thing that it stands for must have a name. */
export function icon(name: IconName, extra = ""): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon ${extra}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
