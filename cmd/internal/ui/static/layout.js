// The places of nodes and edges of the path map.
const rowHeight = 84, margin = 62;

// layout takes paths {id, flows, nodes} and how wide the map may be, and returns {width, height, nodes: [{id, x, y}],
// edges: [{from, to, x1, y1, x2, y2, width, flows, paths}]}. A path without flows: nothing takes it any more.
export function layout(paths, room) {
  const edges = new Map();
  for (const p of paths) {
    for (let i = 1; i < p.nodes.length; i++) {
      const key = p.nodes[i - 1] + ' ' + p.nodes[i];
      const e = edges.get(key) || { key, from: p.nodes[i - 1], to: p.nodes[i], flows: 0, paths: [] };
      e.flows += p.flows;
      e.paths.push(p.id);
      edges.set(key, e);
    }
  }
  const ids = [...new Set(paths.flatMap((p) => p.nodes))];
  const column = columns(ids, [...edges.values()]);
  const rows = new Map(), last = Math.max(0, ...column.values());
  const columnWidth = Math.max(room < 600 ? 110 : 170, Math.min(480, (room - 2 * margin) / Math.max(1, last)));
  const nodes = ids.sort((a, b) => column.get(a) - column.get(b) || a - b).map((id) => {
    const c = column.get(id);
    const row = rows.get(c) || 0;
    rows.set(c, row + 1);
    return { id, c, row };
  });
  const most = Math.max(1, ...rows.values());
  for (const n of nodes) {
    n.x = margin + n.c * columnWidth;
    n.y = margin + (n.row + (most - rows.get(n.c)) / 2) * rowHeight;
  }
  return { nodes, edges: [...edges.values()].map((e) => place(e, nodes)), width: 2 * margin + last * columnWidth, height: 2 * margin + (most - 1) * rowHeight };
}

// columns gives each node its longest distance from a node without predecessors.
// Rings, which a path change can make, end after as many rounds as there are nodes.
function columns(ids, edges) {
  const column = new Map(ids.map((id) => [id, 0]));
  for (let round = 0, moved = true; moved && round < Math.min(ids.length, 64); round++) {
    moved = false;
    for (const e of edges) {
      if (column.get(e.to) < column.get(e.from) + 1 && column.get(e.from) < 32) {
        column.set(e.to, column.get(e.from) + 1);
        moved = true;
      }
    }
  }
  return column;
}

function place(e, nodes) {
  const a = nodes.find((n) => n.id === e.from), b = nodes.find((n) => n.id === e.to);
  return { ...e, x1: a.x + 15, y1: a.y, x2: b.x - 15, y2: b.y, width: Math.min(10, 1.5 + Math.log2(1 + e.flows)) };
}
