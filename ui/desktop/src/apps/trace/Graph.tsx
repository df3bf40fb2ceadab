import { Background, Controls, type Edge, type Node, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { layout, type Trace } from "../../domain/trace";
import { useWords } from "../../i18n/words";
import "@xyflow/react/dist/base.css";
import { words } from "./i18n";

const COLUMN = 270;
const ROW = 66;

/** The steps as a graph: what led to what. The list beside it says the same in words. */
export default function Graph(props: { trace: Trace; chosen: string | undefined; onChoose(id: string): void }) {
  const { trace, chosen, onChoose } = props;
  const t = useWords(words);
  const { nodes, edges } = useMemo(() => {
    const places = layout(trace.steps);
    const made: Node[] = trace.steps.map((s) => {
      const place = places.get(s.id) ?? { column: 0, row: 0 };
      return {
        id: s.id,
        position: { x: place.column * COLUMN, y: place.row * ROW },
        data: { label: `${t(s.kind)}: ${s.title.slice(0, 60)}` },
        className: `trace-node trace-node-${s.ok === false ? "bad" : s.kind}`,
        selected: s.id === chosen,
        sourcePosition: "right",
        targetPosition: "left",
        draggable: false,
        connectable: false,
      } as Node;
    });
    const lines: Edge[] = trace.steps.flatMap((s) =>
      s.parent && places.has(s.parent) ? { id: `${s.parent}-${s.id}`, source: s.parent, target: s.id } : [],
    );
    return { nodes: made, edges: lines };
  }, [trace, chosen, t]);
  return (
    <section className="trace-graph" aria-label={t("graphLabel")}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        fitView
        minZoom={0.1}
        nodesConnectable={false}
        edgesFocusable={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => onChoose(node.id)}
        onSelectionChange={({ nodes: [first] }) => first && first.id !== chosen && onChoose(first.id)}
      >
        <Background gap={22} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}
